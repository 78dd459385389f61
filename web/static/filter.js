// Filters of the ledger, the source map, the errata and the open problems. The page says what its entries can be
// filtered by, in a <script type="application/json" class="facets">: {facet: {value: what a reader is shown}}, or
// {facet: {group: {value: …}}}; each entry has the class "entry" and a class "facet--value" for each of its values.
// This script puts the controls where that element stands. What is chosen stands in the address, ?facet=value, so
// that it can be linked. Without the script the page shows all.
"use strict";

(() => {
  const source = document.querySelector("script.facets");
  if (!source) return;
  const facets = Object.entries(JSON.parse(source.textContent));
  const entries = [...document.querySelectorAll(".bd-article .entry")];
  const texts = entries.map((entry) => entry.textContent.toLowerCase());
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  const bar = make("form", { className: "filters" });
  bar.setAttribute("aria-label", "Filter the entries of this page");
  const field = (name, control) => {
    control.id = `filter-${name}`;
    control.name = name;
    const pair = make("div", {});
    const label = make("label", { textContent: name[0].toUpperCase() + name.slice(1), htmlFor: control.id });
    pair.append(label, control);
    bar.append(pair);
    return control;
  };
  const option = (parent, value, shown) => {
    const one = make("option", { value, textContent: shown });
    one.dataset.shown = shown;
    parent.append(one);
  };
  const choices = facets.map(([facet, values]) => {
    const select = field(facet, make("select", {}));
    option(select, "", "all");
    for (const [value, shown] of Object.entries(values)) {
      if (typeof shown === "string") {
        option(select, value, shown);
        continue;
      }
      const group = make("optgroup", { label: value });
      for (const pair of Object.entries(shown)) option(group, ...pair);
      select.append(group);
    }
    return select;
  });
  const words = field("words", make("input", { type: "search", autocomplete: "off" }));
  const count = make("output", {});
  const all = make("button", { type: "reset", textContent: "Show all" });
  bar.append(count, all);
  source.after(bar);

  // A section without an entry that is shown is hidden, but for the text before the first section with entries.
  const sections = [...document.querySelectorAll(".bd-article section:not(.entry)")].filter((one) =>
    one.querySelector(".entry"),
  );

  // Which entries pass all fields but one.
  function passed(but) {
    const wanted = choices.filter((select) => select !== but && select.value);
    const classes = wanted.map((select) => `${select.name}--${select.value}`);
    const typed = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    return entries.filter(
      (entry, n) =>
        classes.every((one) => entry.classList.contains(one)) && typed.every((one) => texts[n].includes(one)),
    );
  }

  function apply() {
    const shown = new Set(passed());
    for (const entry of entries) entry.hidden = !shown.has(entry);
    for (const section of sections) {
      section.hidden = !section.contains(bar) && !section.querySelector(".entry:not([hidden])");
    }
    all.hidden = shown.size === entries.length;
    count.textContent = all.hidden ? `${shown.size} entries` : `${shown.size} of ${entries.length} entries`;
    // beside each value, how many entries choosing it would show
    for (const select of choices) {
      const left = passed(select);
      for (const one of select.options) {
        const has = (entry) => entry.classList.contains(`${select.name}--${one.value}`);
        one.textContent = `${one.dataset.shown} (${one.value ? left.filter(has).length : left.length})`;
      }
    }
  }

  function keep() {
    const query = new URLSearchParams(location.search);
    for (const { name, value } of [...choices, words]) value ? query.set(name, value) : query.delete(name);
    const search = String(query) && `?${query}`;
    history.replaceState(history.state, "", location.pathname + search + location.hash);
  }

  function change() {
    apply();
    keep();
  }

  // A link to an entry that the filter hides shows it: the filter is emptied.
  function show() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const hidden = target?.closest(".entry[hidden], section[hidden]") ?? target?.querySelector(".entry[hidden]");
    if (!hidden) return;
    bar.reset();
    change();
    target.scrollIntoView();
  }

  bar.addEventListener("input", change);
  bar.addEventListener("reset", () => setTimeout(change)); // when the fields are empty
  bar.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", show);

  const asked = new URLSearchParams(location.search);
  for (const control of [...choices, words]) {
    control.value = asked.get(control.name) ?? "";
    if (control.selectedIndex === -1) control.value = ""; // the page has no such value
  }
  apply();
  show();
})();

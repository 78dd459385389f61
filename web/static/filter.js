// Filters of the source map and the errata. The page says what its entries can be filtered by, in a
// <script type="application/json" class="facets">: {facet: {value: what a reader is shown}}; each entry has the
// class "entry" and a class "facet--value" for each of its values. This script puts the controls where that
// element stands. Without it the page shows all.
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
    control.id = `filter-${name.toLowerCase()}`;
    const pair = make("div", {});
    pair.append(make("label", { textContent: name, htmlFor: control.id }), control);
    bar.append(pair);
    return control;
  };
  const choices = facets.map(([facet, values]) => {
    const select = field(facet[0].toUpperCase() + facet.slice(1), make("select", {}));
    select.append(make("option", { value: "", textContent: "all" }));
    for (const [value, shown] of Object.entries(values)) {
      select.append(make("option", { value: `${facet}--${value}`, textContent: shown }));
    }
    return select;
  });
  const words = field("Words", make("input", { type: "search", autocomplete: "off" }));
  const count = make("output", {});
  bar.append(count);
  source.after(bar);

  // A section without an entry that is shown is hidden, but for the text before the first section with entries.
  const sections = [...document.querySelectorAll(".bd-article section")].filter((one) => one.querySelector(".entry"));

  function apply() {
    const wanted = choices.map((select) => select.value).filter(Boolean);
    const typed = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    entries.forEach((entry, n) => {
      const fits =
        wanted.every((one) => entry.classList.contains(one)) && typed.every((one) => texts[n].includes(one));
      entry.hidden = !fits;
      shown += fits;
    });
    for (const section of sections) {
      section.hidden = !section.contains(bar) && !section.querySelector(".entry:not([hidden])");
    }
    count.textContent = shown === entries.length ? `${shown} entries` : `${shown} of ${entries.length} entries`;
  }

  // A link to an entry that the filter hides shows it: the filter is emptied.
  function show() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const hidden = target?.closest(".entry[hidden], section[hidden]") ?? target?.querySelector(".entry[hidden]");
    if (!hidden) return;
    bar.reset();
    apply();
    target.scrollIntoView();
  }

  bar.addEventListener("input", apply);
  bar.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", show);
  apply();
  show();
})();

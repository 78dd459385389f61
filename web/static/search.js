// The search while typing: chapters, statements, terms and names of the package that fit the words in a search field,
// below the field. Enter goes on to Sphinx's search through the words of all pages, whose results are headed by the
// same places. The index of names (tools/sphinx/search.py) is a script, which a browser loads from the disk too; it is
// loaded when somebody comes to the field.
"use strict";

(() => {
  const MOST = 10;
  const MOST_OF_A_GROUP = 4;
  const LEAST = 0.25; // of the best score: what fits worse is noise beside it
  const [PAGE, SECTION, STATEMENT, FIGURE, TERM, NAME] = [0, 1, 2, 3, 4, 5];
  const GROUPS = [
    { name: "Chapters and sections", kinds: [PAGE, SECTION] },
    { name: "Statements", kinds: [STATEMENT] },
    { name: "Figures", kinds: [FIGURE] },
    { name: "Glossary", kinds: [TERM] },
    { name: "The package mcutils", kinds: [NAME] },
  ];

  // words that say nothing of what is looked for, unless there are no others
  const EMPTY = new Set(
    ("a an and are as at be by can do does for from how i in into is it its me my of on or should so than that the " +
      "their there these this to was we what when where which who why will with you your").split(" "),
  );

  // ---- words ----

  // "Cost-complexity" -> ["cost", "complexity"]; "9.1" is one word, "3." another; a plural is its singular
  function words(text) {
    const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/['’]s\b/g, "").toLowerCase();
    return (plain.match(/[\p{L}\p{N}]+(?:\.\p{N}+)*/gu) ?? []).map(singular);
  }

  function singular(word) {
    if (word.length < 4 || /\d|(ss|us|is|ias)$/.test(word)) return word;
    if (/(ss|sh|ch|x)es$/.test(word)) return word.slice(0, -2);
    if (/ies$/.test(word)) return `${word.slice(0, -3)}y`;
    return word.replace(/s$/, "");
  }

  // to compare wholes: "AdaBoost MH" is "AdaBoostMH", and "the margin bound" is "margin bound"
  const squeeze = (list) => list.filter((word) => !/^(a|an|the)$/.test(word)).join("");

  // 1 for the word itself, less for its beginning; 9 is the beginning of 9.1, not of 98
  function fit(asked, word) {
    if (asked === word) return 1;
    if (/\d/.test(asked)) return word.startsWith(`${asked}.`) ? 0.5 : 0;
    return asked.length > 1 && word.startsWith(asked) ? 0.7 : 0;
  }

  // ---- the index ----

  // What can be asked for, of each entry: its title, its other words, its number; what its label or its note says counts
  // for less. `around` is what the page says of itself.
  function prepare({ pages, entries }) {
    const phrase = (text, weight, kind = "") => ({ text, weight, kind, words: words(text), squeezed: squeeze(words(text)) });
    const titles = [];
    const around = [];
    for (const [kind, page, , title, note, also = []] of entries) {
      if (kind !== PAGE) continue;
      titles[page] = /^\d/.test(note) ? `${note}. ${title}` : title;
      around[page] = [title, ...also].flatMap(words);
    }
    const count = new Map();
    const prepared = entries.map(([kind, page, anchor, title, note, also = []]) => {
      const phrases = [phrase(title, 1), ...also.map((text) => phrase(text, 1, "also"))];
      if (kind === PAGE) phrases.push(phrase(/([^/]*)\.\w+$/.exec(pages[page])[1], 1)); // the topic: "pruning"
      if (kind === PAGE && /^\w+$/.test(note)) phrases.push(phrase(`chapter ${note}`, 1));
      if (kind === STATEMENT || kind === FIGURE) phrases.push(phrase(note, 1), phrase(anchor, 0.6));
      if (kind === TERM || kind === NAME) phrases.push(phrase(note, 0.3));
      if (kind === NAME) phrases.push(phrase(title.replace(/([a-z\d])([A-Z])/g, "$1 $2"), 1));
      for (const word of new Set(phrases.flatMap((one) => one.words))) count.set(word, (count.get(word) ?? 0) + 1);
      const address = pages[page] + (anchor && `#${anchor}`);
      const chapter = kind === PAGE && /^\d/.test(note);
      const place = { [PAGE]: chapter ? `Chapter ${note}` : "", [SECTION]: titles[page], [TERM]: note, [NAME]: note };
      return {
        kind, title, address, phrases, around: around[page],
        note: place[kind] ?? (note === title ? titles[page] : `${note} · ${titles[page]}`),
        // a chapter before its parts, the text of the book before its back matter and its code
        weight: kind === PAGE ? (chapter ? 1.3 : 1.1) : kind === NAME ? (title.includes(".") ? 0.7 : 0.85)
          : kind === FIGURE ? 0.8 : kind === SECTION && !/^\d/.test(titles[page]) ? 0.6 : 1,
      };
    });
    return { prepared, count };
  }

  // ---- ranking ----

  // How well an entry fits: [score, the other word through which it was found]; the score is 0 if it does not.
  function judge(entry, asked, squeezed, weights, total) {
    const covered = asked.map((word) => 0.7 * Math.max(0, ...entry.around.map((other) => fit(word, other))));
    let best = 0;
    let through = "";
    let own = 0;
    for (const phrase of entry.phrases) {
      const used = new Set();
      let sum = 0;
      asked.forEach((word, n) => {
        let most = 0;
        phrase.words.forEach((other, at) => {
          const how = fit(word, other);
          if (how) used.add(at);
          most = Math.max(most, how);
        });
        sum += weights[n] * most;
        own = Math.max(own, weights[n] * most);
        covered[n] = Math.max(covered[n], phrase.weight * most);
      });
      const whole = phrase.squeezed === squeezed;
      if (whole) {
        own = sum = total; // "adaboostmh" too
        covered.fill(1);
      }
      if (!sum) continue;
      const meant = phrase.words.filter((word) => !EMPTY.has(word)).length || 1;
      const dense = whole ? 1 : Math.min(1, used.size / meant);
      let score = phrase.weight * (sum / total) ** 2 * (0.5 + 0.5 * dense);
      if (whole) score += phrase.weight;
      else if (squeezed.length > 3 && phrase.squeezed.startsWith(squeezed)) score += 0.3 * phrase.weight;
      if (score > best) [best, through] = [score, phrase.kind === "also" ? phrase.text : ""];
    }
    if (!own) return [0, ""];
    const all = covered.reduce((sum, how, n) => sum + weights[n] * how, 0) / total;
    const missing = asked.reduce((sum, _, n) => sum + (covered[n] ? 0 : weights[n]), 0) / total;
    if (missing > 0.5) return [0, ""];
    return [entry.weight * (best + 0.4 * all) * (missing > 0 ? 0.4 * (1 - missing) : 1), through];
  }

  // Up to ten places for what was typed, in groups; the group of the best comes first.
  function rank({ prepared, count }, query) {
    const typed = words(query);
    const meant = typed.filter((word) => !EMPTY.has(word));
    const asked = meant.length ? meant : typed;
    if (!asked.length) return [];
    const weights = asked.map((word) => Math.log(1 + prepared.length / (1 + (count.get(word) ?? 0))));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const scored = prepared.map((entry, at) => {
      const [score, through] = judge(entry, asked, squeeze(typed), weights, total);
      return { ...entry, at, score, through };
    });
    const least = LEAST * Math.max(...scored.map(({ score }) => score));
    const fitting = scored.filter(({ score }) => score > 0 && score >= least);
    const hits = fitting.sort((a, b) => b.score - a.score || a.at - b.at);
    const groups = new Map();
    let shown = 0;
    for (const hit of hits) {
      if (shown === MOST) break;
      const group = GROUPS.find(({ kinds }) => kinds.includes(hit.kind)).name;
      const members = groups.get(group) ?? groups.set(group, []).get(group);
      if (members.length === MOST_OF_A_GROUP) continue;
      members.push(hit);
      shown += 1;
    }
    return [...groups].map(([name, members]) => ({ name, hits: members }));
  }

  globalThis.mcSearch = { words, prepare, rank };

  if (typeof document === "undefined") return;

  // ---- the page ----

  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const root = document.documentElement.dataset.content_root ?? "";
  let index; // a promise, once somebody has come to a field

  function load() {
    index ??= new Promise((done, failed) => {
      const script = make("script", { src: `${root}_static/search-index.js`, onerror: failed });
      script.onload = () => done(prepare(globalThis.mcSearchIndex));
      document.head.append(script);
    });
    return index;
  }

  function item({ title, address, note, through }) {
    const link = make("a", { href: root + address });
    link.append(make("span", { className: "search-title", textContent: title }));
    const known = words(title);
    const also = words(through).every((word) => known.includes(word)) ? "" : `“${through}”`;
    const more = [also, note].filter(Boolean).join(" · ");
    if (more) link.append(" ", make("span", { className: "search-note", textContent: more }));
    const entry = make("li", {});
    entry.append(link);
    return entry;
  }

  function enhance(form, number) {
    const field = form.querySelector("input[name=q]");
    const dialog = form.closest("dialog");
    const box = make("div", { className: "search-hits", id: `search-hits-${number}`, hidden: true });
    const said = make("p", { className: "search-count" });
    said.setAttribute("role", "status");
    const lists = make("div", {});
    box.append(said, lists);
    form.after(box);
    field.setAttribute("aria-controls", box.id);

    function show(groups) {
      const count = groups.reduce((sum, { hits }) => sum + hits.length, 0);
      const found = count === 0 ? "No title or name fits." : count === 1 ? "1 place." : `${count} places.`;
      said.textContent = `${found} Enter searches the text of all pages.`;
      lists.replaceChildren(
        ...groups.flatMap(({ name, hits }, n) => {
          const head = make("p", { className: "search-group", id: `${box.id}-${n}`, textContent: name });
          const list = make("ul", {});
          list.setAttribute("role", "list"); // one without bullets is none to Safari
          list.setAttribute("aria-labelledby", head.id);
          list.append(...hits.map(item));
          return [head, list];
        }),
      );
      box.hidden = false;
    }

    function clear() {
      box.hidden = true;
      said.textContent = "";
      lists.replaceChildren();
    }

    async function update() {
      const query = field.value;
      if (!query.trim()) {
        clear();
        return;
      }
      try {
        const names = await load();
        if (field.value === query) show(rank(names, query));
      } catch {
        box.hidden = false;
        said.textContent = "The list of names could not be loaded. Enter searches the text of all pages.";
      }
    }

    function move(event) {
      const links = [...lists.querySelectorAll("a")];
      const here = links.indexOf(document.activeElement);
      if (event.key === "ArrowDown" && here + 1 < links.length) links[here + 1].focus();
      else if (event.key === "ArrowUp" && here >= 0) (links[here - 1] ?? field).focus();
      else if (event.key === "Escape" && !dialog) {
        field.focus();
        clear();
      } else if (event.key === "Escape" && here >= 0) dialog.close(); // the theme hears it in the field only
      else return;
      event.preventDefault();
    }

    field.addEventListener("focus", () => load().catch(() => {}));
    field.addEventListener("input", update);
    form.addEventListener("keydown", move);
    box.addEventListener("keydown", move);
    // a place on this page is to be seen
    box.addEventListener("click", (event) => {
      const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
      if (dialog && !elsewhere && event.target.closest("a")) dialog.close();
    });
    // the page of the search has been asked something in its address
    if (!dialog) {
      field.value ||= new URLSearchParams(location.search).get("q") ?? "";
      update();
    }
  }

  const start = () => document.querySelectorAll("form.bd-search").forEach(enhance);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();

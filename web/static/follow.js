// Following a link, and coming back.
//
// - A card shows what a link leads to: by the mouse, by the keyboard, and at the first tap of a finger. What is
//   on the page itself is copied from it; for a link to another page a script with the cards of that page is loaded
//   (tools/sphinx/cards.py), which works from the disk too.
// - After a jump a button leads back to the link, with the folds as they were. It uses the browser's own way back, for
//   which the place is kept with the entry of its history, or for the session.
// - The browser remembers which sections of a chapter were seen, marks the chapter in the contents, and offers to go on
//   where the reader was. Storage may be refused: then nothing is remembered.
"use strict";

(() => {
  // ---- what a card shows ----

  // Of a script of cards: each sign stands for a piece of HTML, which may hold other signs.
  function expand(text, pieces) {
    return text.replace(/[\u0400-\u07bf\ue000-\uf8ff]/g, (sign) => (pieces.has(sign) ? expand(pieces.get(sign), pieces) : sign));
  }

  const waiting = new Map(); // page -> what takes its cards

  // what the script of a page calls: its signs, what they stand for, and the cards by their anchors
  function take(page, signs, values, cards) {
    const pieces = new Map([...signs].map((sign, i) => [sign, values[i]]));
    waiting.get(page)?.((anchor) => (Object.hasOwn(cards, anchor) ? expand(cards[anchor], pieces) : ""));
  }

  // ---- what is remembered of a chapter ----

  // "read" when all its sections were seen, "begun" when two were
  function progress(seen, sections) {
    if (sections.length && sections.every((id) => seen.includes(id))) return "read";
    return sections.filter((id) => seen.includes(id)).length > 1 ? "begun" : "";
  }

  globalThis.mcFollow = { expand, take, progress };

  if (typeof document === "undefined") return;

  const root = document.documentElement.dataset.content_root ?? "";
  const article = document.querySelector(".bd-article");
  if (!article) return;

  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const anchorOf = (link) => decodeURIComponent(link.hash.slice(1));
  const isHere = (link) => link.pathname === location.pathname && link.host === location.host;

  // the name of a page, "chapters/risk", from an address of the site
  function nameOf(address) {
    const top = new URL(root || "./", location.href).pathname;
    return new URL(address, location.href).pathname.slice(top.length).replace(/\.html$/, "");
  }

  // what a program reads aloud when something has come up
  const status = make("p", { className: "visually-hidden" });
  status.setAttribute("role", "status");
  document.body.append(status);

  // ---- cards ----

  const LINKS = ".bd-article a.reference.internal[href*='#'], .genindextable a[href*='#']";
  const SOON = 250; // ms: who only passes wants no card, and who goes to the card crosses a gap
  const BESIDE = 8; // px that a card keeps from the edge of the window
  const loaded = new Map(); // page -> promise of what gives a card for an anchor

  function load(page) {
    if (!loaded.has(page)) {
      const promise = new Promise((done) => {
        const none = () => done(() => ""); // after `take` it changes nothing
        waiting.set(page, done);
        document.head.append(make("script", { src: `${root}_static/cards/${page}.js`, onload: none, onerror: none }));
      });
      loaded.set(page, promise);
    }
    return loaded.get(page);
  }

  // What a card shows of a place on this page: as `shown` in tools/sphinx/cards.py.
  function cut(place) {
    if (!place) return [];
    if (place.matches(".admonition, div.math, .citation")) return [place];
    if (place.matches("figure")) return [place.querySelector("img"), place.querySelector("figcaption")];
    if (place.matches("dt")) {
      const meaning = place.nextElementSibling;
      return [place, place.matches(".sig") ? meaning?.querySelector("p:not([class])") : meaning];
    }
    if (place.matches("p[id^='sec-']")) return [place];
    if (place.matches("p[id^='erratum-']")) return [...place.closest("tr").cells];
    let heading = place.localName === "span" ? place : null;
    while (heading?.matches("span")) heading = heading.nextElementSibling;
    if (!heading?.matches("h1, h2, h3, h4, h5, h6")) return [];
    const next = heading.nextElementSibling;
    return [heading, next?.matches("details.section") ? next.firstElementChild : heading.parentElement.querySelector("p:not([class])")];
  }

  const AS = { H1: "p", H2: "p", H3: "p", H4: "p", H5: "p", H6: "p", SUMMARY: "p", DT: "p", DD: "div", TD: "div", FIGCAPTION: "div" };

  // a copy that may stand anywhere: no place twice, nothing to press, titles that are no headings
  function cleaned(parts) {
    const box = make("div", { className: "card-text" });
    for (const part of parts.filter(Boolean)) {
      const copy = part.cloneNode(true);
      copy.querySelectorAll(".headerlink, annotation, script, .citation > .label").forEach((one) => one.remove());
      copy.querySelectorAll("a").forEach((link) => link.replaceWith(...link.childNodes));
      [copy, ...copy.querySelectorAll("*")].forEach((one) => ["id", "tabindex", "role", "loading"].forEach((name) => one.removeAttribute(name)));
      if (!AS[copy.tagName]) {
        box.append(copy);
        continue;
      }
      const plain = make(AS[copy.tagName], { className: /^(H\d|DT)$/.test(copy.tagName) ? "card-title" : "" });
      plain.append(...copy.childNodes);
      box.append(plain);
    }
    // white pictures are turned over in the dark by the class of a cell's output
    box.querySelectorAll(":scope > img").forEach((picture) => {
      const frame = make("div", { className: "cell_output" });
      picture.replaceWith(frame);
      frame.append(picture);
    });
    return box.childElementCount ? box : null;
  }

  async function contentOf(link) {
    if (isHere(link)) return cleaned(cut(document.getElementById(anchorOf(link))));
    const html = (await load(nameOf(link.href)))(anchorOf(link));
    const parsed = make("template", { innerHTML: html });
    parsed.content.querySelectorAll("img").forEach((picture) => picture.setAttribute("src", root + picture.getAttribute("src")));
    return cleaned([...parsed.content.children]);
  }

  const card = make("div", { className: "link-card", id: "link-card", tabIndex: -1, hidden: true });
  let shown = null; // the link whose card is to be seen
  let timer = 0;
  let quiet = null; // a link that gets the focus back: its card was there already
  let finger = false; // whether the last thing that touched the page was one
  let pointer = { x: 0, y: 0 };

  function hide() {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    card.hidden = true;
    card.replaceChildren();
  }

  function later(what) {
    clearTimeout(timer);
    timer = setTimeout(what, SOON);
  }

  // below the line of the link or above it, where there is more room; never over it
  function put(link) {
    const lines = [...link.getClientRects()];
    const near = ({ top, bottom, left, right }) => Math.max(top - pointer.y, pointer.y - bottom, 0) + Math.max(left - pointer.x, pointer.x - right, 0);
    const line = lines.sort((a, b) => near(a) - near(b))[0] ?? link.getBoundingClientRect();
    card.style.cssText = "left: 0; top: 0";
    const header = document.querySelector(".bd-header-article")?.getBoundingClientRect().bottom ?? 0; // stays in view
    const below = innerHeight - line.bottom - 2 * BESIDE;
    const above = line.top - Math.max(0, header) - 2 * BESIDE;
    const under = below >= Math.min(card.offsetHeight, 0.6 * innerHeight) || below >= above;
    card.style.maxHeight = `${Math.min(0.6 * innerHeight, under ? below : above)}px`;
    const left = Math.max(BESIDE, Math.min(line.left, document.documentElement.clientWidth - card.offsetWidth - BESIDE));
    const top = under ? line.bottom + 4 : line.top - 4 - card.offsetHeight;
    const zero = card.getBoundingClientRect();
    card.style.left = `${left - zero.left}px`;
    card.style.top = `${top - zero.top}px`;
  }

  // what is wider or longer than its frame scrolls, and a keyboard must be able to reach it then
  function markScrolling() {
    const isLong = (one) => one.matches(".card-text") && one.scrollHeight > one.clientHeight + 3;
    const frames = [...card.querySelectorAll(".card-text, .katex-display")];
    const scrolling = frames.filter((one) => one.scrollWidth > one.clientWidth + 3 || isLong(one));
    for (const one of scrolling) {
      one.tabIndex = 0;
      one.setAttribute("role", "group");
      one.setAttribute("aria-label", one.matches(".card-text") ? "Preview, scrolls" : "Formula, wider than the preview");
    }
    return scrolling.length > 0;
  }

  // Show the card of a link; false if there is none.
  async function show(link, tapped) {
    const content = await contentOf(link).catch(() => null);
    if (!content || !link.isConnected) return false;
    if (!tapped && !isWanted(link)) return true;
    hide();
    shown = link;
    card.append(content);
    if (tapped) {
      const row = make("p", { className: "card-row" });
      const close = make("button", { type: "button", textContent: "Close", onclick: () => leave() });
      row.append(make("a", { className: "card-go", href: link.href, textContent: "Go there" }), close);
      card.append(row);
    }
    card.hidden = false;
    put(link);
    // nothing in a tooltip takes the focus; and a name would be read in place of its words
    const takesFocus = markScrolling() || tapped;
    card.setAttribute("role", takesFocus ? "dialog" : "tooltip");
    if (takesFocus) card.setAttribute("aria-label", "Preview");
    else card.removeAttribute("aria-label");
    if (tapped) card.focus({ preventScroll: true });
    else link.setAttribute("aria-describedby", card.id);
    return true;
  }

  // whether the pointer or the keyboard is still there, when the card has been loaded
  const isWanted = (link) => link.matches(":hover") || document.activeElement === link;

  // close the card, and go back to its link
  function leave() {
    quiet = shown;
    hide();
    quiet?.focus({ preventScroll: true });
    quiet = null;
  }

  const linkAt = (target) => target.closest?.(LINKS);
  const parts = () => [...card.querySelectorAll("a, button, [tabindex='0']")];

  article.append(card);

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    pointer = { x: event.clientX, y: event.clientY };
    const link = linkAt(event.target);
    if (link === shown && shown) clearTimeout(timer);
    else if (link) later(() => show(link));
    else if (card.contains(event.target)) clearTimeout(timer);
    else if (shown && !shown.matches(":focus-visible") && !card.contains(document.activeElement)) later(hide);
    else if (!shown) clearTimeout(timer);
  });
  document.addEventListener("pointerdown", (event) => {
    finger = event.pointerType === "touch";
    pointer = { x: event.clientX, y: event.clientY };
    if (shown && !card.contains(event.target) && linkAt(event.target) !== shown) hide();
  });
  document.addEventListener("focusin", ({ target }) => {
    const link = linkAt(target);
    if (link && link !== quiet && link !== shown && link.matches(":focus-visible")) {
      const { left, top } = link.getBoundingClientRect();
      pointer = { x: left, y: top };
      later(() => show(link));
    }
  });
  document.addEventListener("focusout", ({ relatedTarget }) => {
    if (shown && !card.contains(relatedTarget) && relatedTarget !== shown && !card.matches(":hover")) hide();
  });
  document.addEventListener("keydown", (event) => {
    finger = false;
    if (!shown) {
      if (event.key === "Escape") clearTimeout(timer);
      return;
    }
    const inside = parts();
    const at = inside.indexOf(document.activeElement);
    if (event.key === "Escape") {
      if (card.contains(document.activeElement)) leave();
      else hide();
    } else if (event.key !== "Tab") return;
    else if (document.activeElement === shown && inside.length && !event.shiftKey) {
      event.preventDefault();
      inside[0].focus();
    } else if (card.contains(document.activeElement) && (event.shiftKey ? at <= 0 : at === inside.length - 1)) {
      if (event.shiftKey) event.preventDefault(); // else the keyboard goes on from the link
      leave();
    }
  });
  document.addEventListener("click", (event) => {
    const link = linkAt(event.target);
    if (!link || !finger || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || link === shown) return;
    if (isHere(link) && !cut(document.getElementById(anchorOf(link))).length) return;
    event.preventDefault();
    show(link, true).then((hasCard) => {
      if (!hasCard) follow(link);
    });
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) hide(); // a phone changes the height whenever it hides its address bar
    width = innerWidth;
  });
  addEventListener("pagehide", hide);

  function follow(link) {
    finger = false;
    link.click();
  }

  // ---- the way back ----

  const JUMPS = "jumps"; // in the storage of the session: the links to other pages that were followed one from another
  const FAR = 2; // windows: who has scrolled so far from where a jump led is reading on
  const folds = () => [...article.querySelectorAll("details")];
  const linksOfText = () => [...article.querySelectorAll("a.reference")];

  // a small box in the corner: one thing to press, and a cross
  function corner(label, thing, before) {
    const box = make("div", { className: "way" });
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", label);
    const cross = make("button", { type: "button", className: "way-close", textContent: "×" });
    cross.setAttribute("aria-label", `Close: ${label}`);
    box.append(thing, cross);
    document.querySelector(".way")?.remove();
    before.before(box);
    cross.addEventListener("click", () => box.remove());
    return box;
  }

  // Remove a box when the reader has scrolled some windows away.
  function removeFarFrom(box, windows) {
    let start = null;
    setTimeout(() => (start = scrollY), 600); // when the page has come to rest
    const look = () => {
      if (!box.isConnected) removeEventListener("scroll", look);
      else if (start !== null && Math.abs(scrollY - start) > windows * innerHeight) box.remove();
    };
    addEventListener("scroll", look, { passive: true });
  }

  // Among the blocks of the text, before the one that was gone to: so the keyboard finds it one step before.
  function blockAround(place) {
    let block = place;
    while (block.parentElement && !block.parentElement.matches("section, article, details")) block = block.parentElement;
    return block;
  }

  function offerBack() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !article.contains(target) || target === article) return;
    const button = make("button", { type: "button", textContent: "↩ Back to where you were" });
    const box = corner("Way back", button, blockAround(target));
    button.addEventListener("click", () => {
      box.remove();
      history.back();
    });
    removeFarFrom(box, FAR);
    status.textContent = "A button before this place, and Back in your browser, lead back to where you were.";
  }

  function session(work) {
    try {
      return work(sessionStorage);
    } catch {
      return null; // storage can be forbidden, as from the disk
    }
  }

  const jumps = () => session((storage) => JSON.parse(storage.getItem(JUMPS))) ?? [];
  const keepJumps = (list) => session((storage) => storage.setItem(JUMPS, JSON.stringify(list)));

  // The place from which a link to another page was followed, when that is where one has come back to. The entry of
  // the history does not have it any more: Sphinx writes it anew when a page is loaded.
  function takeJump() {
    const list = jumps();
    const at = list.findLastIndex(({ from }) => from === location.href);
    if (at >= 0) keepJumps(list.slice(0, at));
    return list[at]?.place;
  }

  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest?.(".bd-article a[href*='#']:not(.headerlink)");
    if (!link || link.target) return;
    const from = link.matches(".card-go") ? shown : link;
    const { top } = from.getBoundingClientRect();
    setTimeout(hide); // not before the browser has followed a link in it
    const place = {
      folds: folds().flatMap((fold, i) => (fold.open ? [i] : [])),
      link: linksOfText().indexOf(from),
      top,
    };
    if (place.link < 0) return; // not a link of the text
    if (!isHere(link)) {
      keepJumps([...jumps(), { from: location.href, to: link.href, place }].slice(-20));
      return;
    }
    history.replaceState({ visited: true, place }, "");
    const again = link.hash === location.hash;
    if (again) history.pushState(null, "", link.hash); // else there would be no way back
    setTimeout(() => {
      if (again) dispatchEvent(new HashChangeEvent("hashchange")); // of which a browser tells only if it is another
      offerBack();
    });
  });

  function comeBack({ folds: open, link, top }) {
    history.replaceState({ visited: true }, ""); // who leaves in another way comes back to another place
    document.querySelector(".way")?.remove();
    folds().forEach((fold, i) => (fold.open = open.includes(i)));
    const from = linksOfText()[link];
    if (!from) return;
    quiet = from;
    from.focus({ preventScroll: true });
    quiet = null;
    // what is far away has a height that is guessed, and moves when it becomes right
    (function settle(times) {
      scrollBy({ top: from.getBoundingClientRect().top - top, behavior: "instant" });
      if (times) requestAnimationFrame(() => settle(times - 1));
    })(10);
  }

  addEventListener("popstate", ({ state }) => {
    if (!state) return; // a jump, no way back
    document.querySelector(".way")?.remove();
    if (state.place) setTimeout(() => comeBack(state.place)); // when all have heard that the place is another
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    document.querySelector(".way")?.remove(); // all else is as it was
    history.replaceState({ visited: true }, "");
    takeJump();
  });
  addEventListener("load", () => {
    const [{ type } = {}] = performance.getEntriesByType("navigation");
    if (type === "back_forward") {
      const place = takeJump();
      if (place) setTimeout(() => comeBack(place));
    } else if (type === "navigate") {
      if (jumps().at(-1)?.to === location.href) offerBack();
      else keepJumps([]); // come in another way
    }
  });

  // ---- what was read ----

  const KEY = "reading"; // in the browser's storage: of each chapter the place, the sections seen, "begun" or "read"

  function chapters() {
    try {
      return JSON.parse(localStorage.getItem(KEY)) ?? {};
    } catch {
      return {};
    }
  }

  function keep(all) {
    try {
      if (Object.keys(all).length) localStorage.setItem(KEY, JSON.stringify(all));
      else localStorage.removeItem(KEY);
      return true;
    } catch {
      return false;
    }
  }

  const SIGNS = { begun: "◐", read: "✓" };
  let watching = true;

  // the marks in the contents, and below them what they mean
  function mark() {
    const all = chapters();
    document.querySelectorAll(".reading-mark").forEach((one) => {
      one.previousSibling.remove(); // the space before it
      one.remove();
    });
    document.querySelectorAll(".reading-note").forEach((one) => one.remove());
    const contents = document.querySelector(".bd-links .bd-toc-item");
    if (!contents) return;
    for (const link of contents.querySelectorAll("li > a[href]")) {
      const state = all[nameOf(link.href)]?.state;
      if (!state) continue;
      const sign = make("span", { className: "reading-mark", textContent: SIGNS[state] });
      sign.setAttribute("role", "img");
      sign.setAttribute("aria-label", state);
      link.append("\u00a0", sign);
    }
    if (!Object.values(all).some(({ state }) => state)) return;
    const note = make("p", { className: "reading-note", textContent: "✓ read, ◐ begun. Only this browser keeps this; nothing is sent. " });
    const clear = make("button", { type: "button", textContent: "Clear" });
    clear.addEventListener("click", () => {
      watching = false; // on this page nothing is remembered any more
      keep({});
      mark();
      contents.append(note);
      note.replaceChildren("The marks are cleared.");
      note.tabIndex = -1;
      note.focus({ preventScroll: true });
    });
    note.append(clear);
    contents.append(note);
  }

  function watch(name) {
    const headings = [...article.querySelectorAll("section[id] > :is(h2, h3)")];
    const main = headings.filter(({ localName }) => localName === "h2").map(({ parentElement }) => parentElement.id);
    const end = main.findIndex((id) => id.startsWith("exercises"));
    const sections = end < 0 ? main : main.slice(0, end);
    const before = chapters()[name];
    const seen = new Set(before?.seen ?? []);
    let here = before?.at ?? "";
    let offered = offerToGoOn(before?.at, headings);

    function save() {
      if (!watching) return;
      const all = chapters();
      const state = progress([...seen], sections);
      const isNew = state !== (all[name]?.state ?? "");
      all[name] = { at: here, seen: [...seen], state };
      if (keep(all) && isNew) mark();
    }

    const eye = new IntersectionObserver((entries) => {
      const fresh = entries.filter(({ isIntersecting, target }) => isIntersecting && !seen.has(target.parentElement.id));
      fresh.forEach(({ target }) => seen.add(target.parentElement.id));
      if (fresh.length) save();
    });
    headings.filter(({ localName }) => localName === "h2").forEach((heading) => eye.observe(heading));

    let rest = 0;
    const look = () => {
      if (offered?.isConnected) return; // the place that is offered is not given up before
      offered = null;
      const shownHeadings = headings.filter((heading) => heading.getClientRects().length);
      const last = shownHeadings.findLast((heading) => heading.getBoundingClientRect().top < innerHeight / 2);
      const now = last?.parentElement.id ?? "";
      if (now !== here) {
        here = now;
        save();
      }
    };
    addEventListener("scroll", () => {
      clearTimeout(rest);
      rest = setTimeout(look, 300);
    }, { passive: true });
  }

  // "Continue where you were", to whoever comes to the beginning of a chapter; the box, if there is one
  function offerToGoOn(id, headings) {
    const heading = headings.find(({ parentElement }) => parentElement.id === id);
    const [{ type } = {}] = performance.getEntriesByType("navigation");
    if (!heading || heading === headings[0] || location.hash || type !== "navigate") return null;
    const title = heading.cloneNode(true);
    title.querySelectorAll(".headerlink, .katex-mathml").forEach((one) => one.remove());
    const link = make("a", { href: `#${id}`, textContent: `Continue where you were: ${title.textContent.trim()}` });
    const box = corner("Continue", link, article.firstElementChild);
    link.addEventListener("click", () => setTimeout(() => box.remove()));
    removeFarFrom(box, 1);
    return box;
  }

  mark();
  const name = DOCUMENTATION_OPTIONS.pagename ?? "";
  if (name.startsWith("chapters/")) watch(name);
})();

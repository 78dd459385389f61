// Quizzes: an admonition of class "quiz" holds a question, an ordered list of options and a folded
// answer that begins with the number of the right option in bold, and may have an ordered list of
// reasons, one for each option. The list becomes radio buttons with a check, which gives the reason of
// what was chosen and, after a first miss, a second try. Without this script the folded answer does the
// same work.
//
// Of the classes "quiz match": a bulleted list of options, each with its letter in bold, an ordered list of
// rows, and a folded answer that begins with the pairs in bold, "1 b, 2 a.". Each row gets a choice of letters.
"use strict";

// Under its results a search shows lines of the pages, which it fetches; from the disk a browser refuses that.
if (typeof location !== "undefined" && location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// A page has each formula three times: to be seen, to be read aloud, and as it was typed. A line needs one.
globalThis.document?.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;
  const { htmlToText } = Search;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll(".katex-html, annotation").forEach((twin) => twin.remove());
    return htmlToText(page.documentElement.outerHTML, anchor);
  };
});

(() => {
  // "2." -> 2; null when the bold text names none of the options
  function rightOption(boldText, count) {
    const match = /^\s*(\d+)\s*\.?\s*$/.exec(boldText);
    const number = match ? Number(match[1]) : 0;
    return number >= 1 && number <= count ? number : null;
  }

  // What is said of a choice when `missed` were chosen before: `before` and `after` the option's reason. The
  // answer opens when the choice is right, at the second miss, and when one option is left.
  function judge(chosen, right, missed, count) {
    if (chosen === null) return { verdict: "none", before: "Choose an option first.", after: "", open: false };
    if (chosen === right) return { verdict: "right", before: `Right, ${right}.`, after: "", open: true };
    const open = new Set([...missed, chosen]).size >= Math.min(2, count - 1);
    return { verdict: "wrong", before: `Not ${chosen}.`, after: open ? `The answer is ${right}.` : "Try once more.", open };
  }

  // "1 b, 2 a." -> ["b", "a"]; null unless each row in turn has one of the letters
  function rightLetters(boldText, letters, count) {
    const pairs = boldText.trim().replace(/\.$/, "").split(",").map((pair) => pair.trim().split(/\s+/));
    const good = pairs.every(([row, letter, ...more], i) => row === `${i + 1}` && letters.includes(letter) && !more.length);
    return good && count && pairs.length === count ? pairs.map(([, letter]) => letter) : null;
  }

  // what is said of each row, and of all together; "" stands for a row without a choice
  function compare(chosen, right, again) {
    const open = chosen.flatMap((letter, i) => (letter ? [] : [i + 1]));
    if (open.length) return { rows: chosen.map(() => ""), all: `Choose a letter first in row ${open.join(", ")}.`, verdict: "none", open: false };
    const rows = chosen.map((letter, i) => (letter === right[i] ? "right" : `not ${letter}`));
    const count = rows.filter((word) => word === "right").length;
    return count === rows.length
      ? { rows, all: "All rows are right. The reasons are open below.", verdict: "right", open: true }
      : { rows, all: `Right: ${count} of ${rows.length} rows. ${again ? "The answer is open below." : "Try once more."}`, verdict: "wrong", open: again };
  }

  globalThis.mcQuiz = { rightOption, judge, rightLetters, compare };

  if (typeof document === "undefined") return;

  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  // put the list into a fieldset that the question names, with a button and a place for words
  function controls(list, question, number) {
    question.id ||= `quiz-${number}-question`;
    const fieldset = make("fieldset");
    fieldset.setAttribute("aria-labelledby", question.id);
    list.replaceWith(fieldset);
    const button = make("button", { type: "button", textContent: "Check" });
    const status = make("p", { className: "quiz-feedback" });
    status.setAttribute("role", "status");
    fieldset.append(list, button, status);
    return { button, status };
  }

  function enhance(quiz, number) {
    const list = quiz.querySelector(":scope > ol");
    const answer = quiz.querySelector(":scope > details");
    const bold = answer?.querySelector(".sd-card-body :is(strong, b)");
    if (!list || !bold) return; // not written as a quiz: leave it as it is
    if (quiz.matches(".match")) return enhanceMatch(quiz, number, list, answer, bold.textContent);
    const right = rightOption(bold.textContent, list.children.length);
    if (!right) return;

    const reasons = [...answer.querySelectorAll(":scope .sd-card-body > ol > li")];
    const reasoned = reasons.length === list.children.length;
    const missed = new Set();
    const { button, status } = controls(list, list.previousElementSibling, number);
    [...list.children].forEach((item, i) => {
      const label = make("label");
      const radio = make("input", { type: "radio", name: `quiz-${number}`, value: i + 1, autocomplete: "off" });
      const text = make("span");
      text.append(...item.childNodes);
      label.append(radio, text);
      item.append(label);
    });

    button.addEventListener("click", () => {
      const checked = list.querySelector("input:checked");
      const chosen = checked ? Number(checked.value) : null;
      const { verdict, before, after, open } = judge(chosen, right, missed, list.children.length);
      const parts = [make("strong", { textContent: before })];
      if (reasoned && chosen !== null) parts.push(copyOf(reasons[chosen - 1]));
      if (after) parts.push(make("strong", { textContent: after }));
      status.replaceChildren(...parts.flatMap((part, i) => (i ? [" ", part] : [part])));
      status.dataset.verdict = verdict;
      if (verdict === "wrong") {
        missed.add(chosen);
        checked.closest("li").dataset.verdict = "wrong"; // it stays struck out at the second try
      } else if (verdict === "right") checked.closest("li").dataset.verdict = "right";
      if (open) answer.open = true;
    });
    list.addEventListener("change", () => status.replaceChildren());
  }

  // the words of a reason, to be said elsewhere: formulas with them, but no place twice
  function copyOf(reason) {
    const copy = make("span");
    const paragraphs = [...reason.querySelectorAll(":scope > p")];
    (paragraphs.length ? paragraphs : [reason]).forEach((part) => copy.append(...[...part.childNodes].map((node) => node.cloneNode(true)), " "));
    copy.querySelectorAll("[id]").forEach((element) => element.removeAttribute("id"));
    return copy;
  }

  function enhanceMatch(quiz, number, list, answer, boldText) {
    const options = [...quiz.querySelectorAll(":scope > ul > li")];
    const letters = options.map((option) => option.querySelector("strong, b")?.textContent.trim());
    const right = rightLetters(boldText, letters, list.children.length);
    if (!right) return;

    const { button, status } = controls(list, quiz.querySelector(":scope > p:not(.admonition-title)"), number);
    const rows = [...list.children].map((item, i) => {
      const label = make("label");
      const text = make("span");
      const select = make("select", { autocomplete: "off" });
      const word = make("span", { className: "quiz-feedback", id: `quiz-${number}-row-${i}` });
      select.setAttribute("aria-describedby", word.id);
      select.append(...["", ...letters].map((letter) => make("option", { value: letter, textContent: letter || "…" })));
      text.append(...item.childNodes);
      label.append(text, select);
      item.append(label, word);
      return { select, word };
    });

    let again = false;
    button.addEventListener("click", () => {
      const found = compare(rows.map(({ select }) => select.value), right, again);
      again ||= found.verdict === "wrong";
      rows.forEach(({ word }, i) => {
        word.textContent = found.rows[i];
        word.dataset.verdict = found.rows[i] === "right" ? "right" : "wrong";
      });
      status.replaceChildren(make("strong", { textContent: found.all }));
      status.dataset.verdict = found.verdict;
      if (found.open) answer.open = true;
    });
    list.addEventListener("change", () => [status, ...rows.map(({ word }) => word)].forEach((place) => (place.textContent = "")));
  }

  const start = () => document.querySelectorAll(".admonition.quiz").forEach(enhance);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();

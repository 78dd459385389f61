// Quizzes: an admonition of class "quiz" holds a question, an ordered list of options and a folded
// answer that begins with the number of the right option in bold. The list becomes radio buttons with
// a check. Without this script the folded answer does the same work.
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

  function feedback(chosen, right) {
    if (chosen === null) return "Choose an option first.";
    return chosen === right
      ? `Right: the answer is ${right}. The reason is open below.`
      : `Wrong: the answer is not ${chosen}. The answer is open below.`;
  }

  // "1 b, 2 a." -> ["b", "a"]; null unless each row in turn has one of the letters
  function rightLetters(boldText, letters, count) {
    const pairs = boldText.trim().replace(/\.$/, "").split(",").map((pair) => pair.trim().split(/\s+/));
    const good = pairs.every(([row, letter, ...more], i) => row === `${i + 1}` && letters.includes(letter) && !more.length);
    return good && count && pairs.length === count ? pairs.map(([, letter]) => letter) : null;
  }

  // what is said of each row, and of all together; "" stands for a row without a choice
  function compare(chosen, right) {
    const open = chosen.flatMap((letter, i) => (letter ? [] : [i + 1]));
    if (open.length) return { rows: chosen.map(() => ""), all: `Choose a letter first in row ${open.join(", ")}.`, verdict: "none" };
    const rows = chosen.map((letter, i) => (letter === right[i] ? "right" : `not ${letter}`));
    const count = rows.filter((word) => word === "right").length;
    return count === rows.length
      ? { rows, all: "All rows are right. The reasons are open below.", verdict: "right" }
      : { rows, all: `Right: ${count} of ${rows.length} rows. The answer is open below.`, verdict: "wrong" };
  }

  globalThis.mcQuiz = { rightOption, feedback, rightLetters, compare };

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
      status.textContent = feedback(chosen, right);
      status.dataset.verdict = chosen === null ? "none" : chosen === right ? "right" : "wrong";
      if (chosen !== null) answer.open = true;
    });
    list.addEventListener("change", () => (status.textContent = ""));
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

    button.addEventListener("click", () => {
      const found = compare(rows.map(({ select }) => select.value), right);
      rows.forEach(({ word }, i) => {
        word.textContent = found.rows[i];
        word.dataset.verdict = found.rows[i] === "right" ? "right" : "wrong";
      });
      status.textContent = found.all;
      status.dataset.verdict = found.verdict;
      if (found.verdict !== "none") answer.open = true;
    });
    list.addEventListener("change", () => [status, ...rows.map(({ word }) => word)].forEach((place) => (place.textContent = "")));
  }

  const start = () => document.querySelectorAll(".admonition.quiz").forEach(enhance);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();

// Quizzes: an admonition of class "quiz" holds a question, an ordered list of options and a folded
// answer that begins with the number of the right option in bold. The list becomes radio buttons with
// a check. Without this script the folded answer does the same work.
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

  globalThis.mcQuiz = { rightOption, feedback };

  if (typeof document === "undefined") return;

  function enhance(quiz, number) {
    const list = quiz.querySelector(":scope > ol");
    const answer = quiz.querySelector(":scope > details");
    const bold = answer?.querySelector(".sd-card-body :is(strong, b)");
    const right = list && bold && rightOption(bold.textContent, list.children.length);
    if (!right) return; // not written as a quiz: leave it as it is

    const question = list.previousElementSibling;
    question.id ||= `quiz-${number}-question`;
    const fieldset = document.createElement("fieldset");
    fieldset.setAttribute("aria-labelledby", question.id);
    list.replaceWith(fieldset);
    fieldset.append(list);

    [...list.children].forEach((item, i) => {
      const label = document.createElement("label");
      const radio = document.createElement("input");
      Object.assign(radio, { type: "radio", name: `quiz-${number}`, value: i + 1, autocomplete: "off" });
      const text = document.createElement("span");
      text.append(...item.childNodes);
      label.append(radio, text);
      item.append(label);
    });

    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: "Check" });
    const status = document.createElement("p");
    status.className = "quiz-feedback";
    status.setAttribute("role", "status");
    fieldset.append(button, status);

    button.addEventListener("click", () => {
      const checked = list.querySelector("input:checked");
      const chosen = checked ? Number(checked.value) : null;
      status.textContent = feedback(chosen, right);
      status.dataset.verdict = chosen === null ? "none" : chosen === right ? "right" : "wrong";
      if (chosen !== null) answer.open = true;
    });
    list.addEventListener("change", () => (status.textContent = ""));
  }

  const start = () => document.querySelectorAll(".admonition.quiz").forEach(enhance);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();

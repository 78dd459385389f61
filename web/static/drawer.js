// The contents on a small screen: a drawer, which is a dialog that the theme opens and fills. Who chooses a section or
// a page in it wants to see that, so it closes, and the keyboard goes on from the chosen place.
"use strict";

document.querySelectorAll("dialog[id$='-sidebar-modal']").forEach((drawer) => {
  drawer.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return; // which open it elsewhere
    const here = link.pathname === location.pathname && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (here) {
      const goOn = () => {
        here.tabIndex = -1;
        here.focus({ preventScroll: true });
      };
      drawer.addEventListener("close", goOn, { once: true }); // after the theme, which goes back to the button
    }
    drawer.close();
  });
});

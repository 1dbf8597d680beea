// Light, dark, or as the system has it; remembered where the browser lets us.

const THEMES = ["auto", "light", "dark"];
let now = "auto";

function set(name, button) {
  now = THEMES.includes(name) ? name : "auto";
  if (now === "auto") {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = now;
  }
  button.textContent = `theme: ${now}`;
}

export function startTheme(button) {
  try {
    set(localStorage.getItem("theme"), button);
  } catch {
    set("auto", button); // storage is forbidden here
  }
}

export function nextTheme(button) {
  set(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length], button);
  try {
    localStorage.setItem("theme", now);
  } catch {
    // then it is for this visit
  }
}

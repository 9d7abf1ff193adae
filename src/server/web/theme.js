// Sets the theme before anything is painted; settings.js changes it later. A script of its own, since the policy of the
// page allows none within it.
try {
  document.documentElement.dataset.theme = JSON.parse(localStorage.getItem("tessera.settings"))?.theme ?? "auto";
} catch {
  document.documentElement.dataset.theme = "auto"; // storage is off, or holds something else
}

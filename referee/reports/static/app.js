// Live progress, and a word before an upload that is too large. Without this script pages are loaded again by themselves.
"use strict";
const live = document.querySelector("[data-events]");
if (live) {
  const byId = (id) => document.getElementById(id);
  const events = new EventSource(live.dataset.events);
  events.addEventListener("line", (event) => {
    const line = JSON.parse(event.data);
    const state = line.state.charAt(0).toUpperCase() + line.state.slice(1);
    if (byId("state").textContent !== state) byId("state").textContent = state;
    if (byId("said").textContent !== line.said) byId("said").textContent = line.said;
    byId("phrases").textContent = line.phrases.join(" · ");
    const share = byId("share");
    if (line.expected) {
      share.max = Math.max(line.expected, line.done);
      share.value = line.done;
    }
  });
  events.addEventListener("rest", () => {
    events.close();
    location.reload();
  });
}

const upload = document.querySelector("input[type=file][data-most]");
if (upload) {
  upload.addEventListener("change", () => {
    const most = Number(upload.dataset.most);
    const file = upload.files[0];
    upload.setCustomValidity(file && file.size > most ? `The file is larger than ${Math.round(most / 2 ** 20)} MB.` : "");
    upload.reportValidity();
  });
}

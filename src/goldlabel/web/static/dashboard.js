// Keeps the overview up to date: fetches its parts again now and then, while the page is looked at.

const live = document.getElementById("live");

function say(lost) {
  const text = lost ? live.dataset.lost : live.dataset.live;
  if (live.textContent !== text) live.textContent = text;
}

async function refresh(part) {
  if (document.hidden || part.contains(document.activeElement)) return;
  try {
    const answer = await fetch(part.dataset.part, { headers: { accept: "text/html" }, redirect: "error" });
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    part.replaceChildren(...page.body.childNodes);
    say(false);
  } catch {
    say(true);
  }
}

// A part that says that something is under way is fetched again sooner.
function keep(part) {
  const sooner = part.querySelector("[data-again]");
  const seconds = Number(sooner ? sooner.dataset.again : part.dataset.seconds);
  setTimeout(async () => {
    await refresh(part);
    keep(part);
  }, 1000 * seconds);
}

for (const part of document.querySelectorAll("[data-part]")) keep(part);

// The frame: who one is, where one is, what is new, how the bot is. The conversation itself is simcord's page
// in an iframe. The secret stays in this address's fragment and goes out in a header only.

import { keepTime, offerMenus, stayAtTheEnd, watchActions } from "/view.js";

const secret = location.hash.slice(1);
const $ = (id) => document.getElementById(id);
/** Remembered by this tab (who, where), and by this browser (what was read). */
const [tab, browser] = [sessionStorage, localStorage].map((storage) => ({
  get: (key, otherwise) => JSON.parse(storage.getItem(`playground.${key}`) ?? "null") ?? otherwise,
  set: (key, value) => storage.setItem(`playground.${key}`, JSON.stringify(value)),
}));

/** The last lists from the twin; null before the first. */
let lists = null;
let who = tab.get("who", "ana");
let place = tab.get("place", "");
/** Per guild, person and place: the newest message id that was on the screen. */
let seen = {};
let view = null;

// ------------------------------------------------------------------------------------------------ small parts

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

const face = (key) => element("img", { src: `/faces/${key}.png`, alt: "" });
const newer = (a, b) => BigInt(a) > BigInt(b);

function toast(text, calm = false) {
  const last = $("toasts").lastElementChild;
  if (last?.textContent === text) last.remove();
  const shown = element("div", { class: calm ? "toast calm" : "toast" }, text);
  $("toasts").append(shown);
  setTimeout(() => shown.remove(), 7000);
}

const person = (key) => lists.people.find((p) => p.key === key);
const channel = (id) => lists.channels.find((c) => c.id === id);

// ------------------------------------------------------------------------------------------------ what is new

function newsOf(key, where) {
  const [last, ping] = person(key).news[where] ?? ["0", "0"];
  const until = seen[`${key}.${where}`] ?? "0";
  return { unread: newer(last, until), pinged: newer(ping, until), last };
}

function markSeen() {
  if (!place || document.hidden) return;
  const { last } = newsOf(who, place);
  const key = `${who}.${place}`;
  if (newer(last, seen[key] ?? "0")) {
    seen[key] = last;
    browser.set(`seen.${lists.guild.id}`, seen);
  }
}

function pings(key) {
  return Object.keys(person(key).news).filter((where) => newsOf(key, where).pinged).length;
}

/** What was there before this browser first came is not news. */
function recall() {
  const known = browser.get(`seen.${lists.guild.id}`, null);
  seen = known ?? {};
  if (known) return;
  for (const p of lists.people) for (const [where, [last]] of Object.entries(p.news)) seen[`${p.key}.${where}`] = last;
  browser.set(`seen.${lists.guild.id}`, seen);
}

// --------------------------------------------------------------------------------------------------- the lists

function placeButton(where, glyph, name) {
  const { unread, pinged } = newsOf(who, where);
  const parts = [glyph, element("span", { class: "name" }, name)];
  if (pinged) parts.push(element("span", { class: "badge", "aria-hidden": "true" }, "1"));
  const label = `${name}${pinged ? ", mentions you" : unread ? ", unread" : ""}`;
  const button = element("button", {
    class: unread || pinged ? "place news" : "place", type: "button", "data-place": where,
    "aria-current": where === place ? "page" : null, "aria-label": label,
  }, ...parts);
  button.addEventListener("click", () => go(who, where));
  return button;
}

function drawPlaces() {
  const focused = document.activeElement?.dataset?.place;
  const glyph = (text) => element("span", { class: "glyph", "aria-hidden": "true" }, text);
  const rows = [];
  const visible = lists.channels.filter((c) => c.id in person(who).news);
  for (const c of visible.filter((c) => !c.parent)) {
    rows.push(element("li", {}, placeButton(c.id, glyph("#"), c.name)));
    for (const t of visible.filter((t) => t.parent === c.id)) {
      rows.push(element("li", { class: "thread" }, placeButton(t.id, glyph("↳"), t.name)));
    }
  }
  $("places").replaceChildren(
    element("h2", {}, "Channels"), element("ul", {}, ...rows),
    element("h2", {}, "Direct messages"),
    element("ul", {}, element("li", {}, placeButton("dm", face("signoff"), lists.bot.name))),
  );
  if (focused) $("places").querySelector(`[data-place="${focused}"]`)?.focus();
}

function drawPeople() {
  const focused = document.activeElement?.dataset?.person;
  $("people").replaceChildren(...lists.people.map((p) => {
    const count = p.key === who ? 0 : pings(p.key);
    const label = `${p.name}, ${p.role}${count ? ", has something new" : ""}`;
    const parts = [face(p.key), element("span", { class: "who" }, element("b", {}, p.name), element("small", {}, p.role))];
    if (count) parts.push(element("span", { class: "badge", "aria-hidden": "true" }, String(count)));
    const button = element("button", {
      class: "person", type: "button", role: "radio", "data-person": p.key, "aria-label": label,
      "aria-checked": String(p.key === who), tabindex: p.key === who ? "0" : "-1",
    }, ...parts);
    button.addEventListener("click", () => go(p.key, place));
    return button;
  }));
  if (focused) $("people").querySelector(`[data-person="${focused}"]`)?.focus();
}

function drawBar() {
  const me = person(who);
  $("acting").replaceChildren(
    face(who), element("span", {}, "You are ", element("b", {}, me.name)), element("span", { class: "role" }, me.role),
  );
  const { name, state, detail } = lists.bot;
  const words = { running: "is running", starting: "is starting…", stopped: "is stopped", elsewhere: "runs elsewhere", lost: "is out of sight" };
  $("bot").className = `bot ${state}`;
  $("bot").title = detail;
  $("bot").replaceChildren(element("span", { class: "words" }, `${name} ${words[state]}`));
  $("bot").setAttribute("aria-label", `${name} ${words[state]} ${detail}`);
  $("restart").hidden = state === "elsewhere";
  const typing = place === "dm" ? me.typing : channel(place)?.typing;
  $("typing").textContent = typing ? `${name} is typing…` : "";
  const total = lists.people.reduce((sum, p) => sum + pings(p.key), 0);
  $("drawer-badge").hidden = total === 0;
  $("drawer-badge").textContent = String(total);
  document.title = `${total ? `(${total}) ` : ""}${placeName()} | ${lists.guild.name}, as ${me.name}`;
}

function placeName() {
  return place === "dm" ? lists.bot.name : `#${channel(place)?.name ?? ""}`;
}

function draw() {
  markSeen();
  $("guild").textContent = lists.guild.name;
  drawPlaces();
  drawPeople();
  drawBar();
}

// ---------------------------------------------------------------------------------------------------- the view

/** Become somebody, somewhere; `message` is scrolled to, `typed` is put into the composer. */
function go(newWho, newPlace, { message = null, typed = null } = {}) {
  if (!(newPlace in person(newWho).news)) newPlace = lists.channels[0].id; // Not everybody sees every thread.
  const moved = newWho !== who || newPlace !== place || view === null;
  who = newWho;
  place = newPlace;
  tab.set("who", who);
  tab.set("place", place);
  openDrawer(false);
  if (moved) openView({ message, typed });
  else if (message) showMessage(message);
  else if (typed) typeInto(typed);
  draw();
}

function openView({ message = null, typed = null } = {}) {
  const capability = `${secret}.${who}.${place}`;
  const made = element("iframe", {
    title: `${placeName()}, as ${person(who).name}`, src: `/view?${who}.${place}#${capability}`,
  });
  made.addEventListener("load", () => whenReady(made, message, typed));
  $("views").replaceChildren(made);
  view = made;
}

function whenReady(frame, message, typed) {
  const page = frame.contentDocument;
  const status = page.getElementById("action-status");
  new frame.contentWindow.MutationObserver(() => heed(status.textContent)).observe(status, {
    childList: true, characterData: true, subtree: true,
  });
  page.addEventListener("click", followLink, true);
  const { toTheEnd, leave } = stayAtTheEnd(frame.contentWindow, page.getElementById("channel-timeline"));
  const context = watchActions(frame.contentWindow, (kind) => {
    if (["run_command", "send_message"].includes(kind)) toTheEnd();
    else if (kind === "focus") leave();
  });
  page.addEventListener("keydown", shortcut);
  const list = page.getElementById("channel-message-list");
  const addMenus = offerMenus(page, list, menusOf(context));
  const drawn = () => {
    nameLinks(list);
    if (place !== "dm") addMenus();
  };
  new frame.contentWindow.MutationObserver(drawn).observe(list, { childList: true, subtree: true });
  drawn();
  keepTime(frame.contentWindow);
  const app = page.getElementById("preview-app");
  const ready = () => {
    if (frame !== view || app.getAttribute("aria-busy") === "true") return false;
    if (message) showMessage(message);
    else toTheEnd();
    if (typed) typeInto(typed);
    else if (matchMedia("(hover: hover)").matches && document.activeElement === document.body) frame.contentWindow.focus();
    return true;
  };
  if (ready()) return;
  const waiting = new frame.contentWindow.MutationObserver(() => { if (ready()) waiting.disconnect(); });
  waiting.observe(app, { attributes: true });
}

/** What a message's menu offers, and its use; a form that it opens is shown by the page itself. */
function menusOf(context) {
  const capability = `${secret}.${who}.${place}`;
  const ask = (body) => fetch("/api/menu", {
    method: body ? "POST" : "GET", cache: "no-store", body: body && JSON.stringify(body),
    headers: { "X-Simcord-Capability": capability, "X-Simcord-Context": context(), ...(body && { "Content-Type": "application/json" }) },
  });
  return {
    async commands() {
      const answer = await ask();
      return answer.ok ? (await answer.json()).commands : [];
    },
    async use(message, command) {
      const answer = await ask({ message, command });
      if (!answer.ok) toast("That was not accepted: the message or the command is no longer there.");
      else if (!(await answer.json()).answered) toast(noAnswer());
    },
  };
}

function noAnswer() {
  const { name, state } = lists.bot;
  return state === "running" || state === "elsewhere"
    ? `This interaction failed. ${name} did not answer within three seconds.`
    : `This interaction failed. ${name} is not running yet; try once more in a moment.`;
}

/** The page tells failures only in a toolbar that the skin hides. */
let heeded = "";
function heed(text) {
  if (text === heeded) return;
  heeded = text;
  if (text === "Action was not completed.") {
    if (view.contentWindow.simcordPreview?.lastAction?.rejected) {
      toast("That was not accepted: something is missing in it, or it is no longer there.");
    } else {
      toast(noAnswer());
    }
  } else if (/uncertain|confirmed result/.test(text)) {
    toast("The playground did not say whether that arrived. Look before you repeat it.");
  } else if (/session (is unavailable|ended|closed)|protocol 3/.test(text)) {
    openView();
  }
}

/** Where a link to a place or message of Discord leads in here; null for other links. */
function target(link) {
  const found = link?.href.match(/^https:\/\/(?:[a-z]+\.)?discord\.com\/channels\/(\d+|@me)\/(\d+)(?:\/(\d+))?/);
  if (!found) return null;
  const [, , where, message = null] = found;
  return { where: channel(where) ? where : "dm", message };
}

/** Such links stay in here. */
function followLink(event) {
  const found = target(event.target.closest?.("a[href]"));
  if (!found) return;
  event.preventDefault();
  event.stopPropagation();
  go(who, found.where, { message: found.message });
}

/** A channel's mention in direct messages, which the page leaves as it was written, and a bare link read as Discord shows them. */
function nameLinks(list) {
  const page = list.ownerDocument;
  const texts = page.createTreeWalker(list, NodeFilter.SHOW_TEXT);
  const written = [];
  while (texts.nextNode()) {
    if (/<#\d+>/.test(texts.currentNode.data) && !texts.currentNode.parentElement.closest("code, pre, a")) written.push(texts.currentNode);
  }
  for (const text of written) {
    const parts = text.data.split(/<#(\d+)>/).map((part, number) => {
      if (number % 2 === 0) return part;
      const known = channel(part);
      if (!known) return `<#${part}>`;
      const link = page.createElement("a");
      link.href = `https://discord.com/channels/@me/${part}`;
      link.textContent = `#${known.name}`;
      link.className = "mention";
      return link;
    });
    text.replaceWith(...parts);
  }
  for (const link of list.querySelectorAll('a[href*="discord.com/channels/"]')) {
    const found = target(link);
    if (!found || link.textContent !== link.getAttribute("href")) continue;
    const name = found.where === "dm" ? lists.bot.name : `#${channel(found.where).name}`;
    link.textContent = found.message ? `${name} › message` : name;
    link.classList.add("mention");
  }
}

function showMessage(id) {
  const page = view.contentDocument;
  page.getElementById("message-exact-id").value = id;
  page.getElementById("message-exact-form").requestSubmit();
}

function typeInto(text) {
  const input = view.contentDocument.getElementById("channel-composer-input");
  input.focus();
  input.value = text;
  input.dispatchEvent(new view.contentWindow.Event("input", { bubbles: true }));
}

// ------------------------------------------------------------------------------------------------ drawer, keys

function openDrawer(open) {
  $("sidebar").classList.toggle("open", open);
  $("scrim").hidden = !open;
  $("drawer").setAttribute("aria-expanded", String(open));
  if (open) $("people").querySelector('[aria-checked="true"]')?.focus();
}

/** Alt+1, 2, 3: people. */
function shortcut(event) {
  const index = event.altKey && !event.ctrlKey ? ["1", "2", "3"].indexOf(event.key) : -1;
  if (index >= 0 && lists?.people[index]) {
    event.preventDefault();
    go(lists.people[index].key, place);
  } else if (event.key === "Escape" && $("sidebar").classList.contains("open")) {
    openDrawer(false);
    $("drawer").focus();
  }
}

$("people").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const keys = lists.people.map((p) => p.key);
  go(keys[(keys.indexOf(who) + step + keys.length) % keys.length], place);
  $("people").querySelector('[aria-checked="true"]').focus();
});
document.addEventListener("keydown", shortcut);
document.addEventListener("visibilitychange", () => { if (lists) draw(); });
window.addEventListener("storage", () => { if (lists) { recall(); draw(); } });
window.addEventListener("hashchange", () => location.reload());
$("drawer").addEventListener("click", () => openDrawer(!$("sidebar").classList.contains("open")));
$("scrim").addEventListener("click", () => openDrawer(false));

$("restart").addEventListener("click", async () => {
  $("restart").disabled = true;
  try {
    const answer = await fetch("/playground/restart-bot", { method: "POST", headers: { "X-Playground-Secret": secret } });
    if (!answer.ok) throw new Error(await answer.text());
    toast("The bot was killed. It is being started again.", true);
  } catch (error) {
    toast(`The bot could not be restarted: ${error.message}`);
  } finally {
    $("restart").disabled = false;
  }
});

function showTips(open) {
  $("tips").hidden = !open;
}
$("tips-open").addEventListener("click", () => {
  showTips($("tips").hidden);
  browser.set("tips", !$("tips").hidden);
});
$("tips-close").addEventListener("click", () => { showTips(false); browser.set("tips", false); });
for (const button of $("tips").querySelectorAll("[data-who]")) {
  button.addEventListener("click", () => {
    const { who: newWho, place: name, type } = button.dataset;
    if (matchMedia("(max-width: 760px)").matches) showTips(false);
    go(newWho, lists.channels.find((c) => c.name === name)?.id ?? place, { typed: type ?? null });
  });
}

// --------------------------------------------------------------------------------------------------- the stream

function receive(next) {
  const first = lists === null;
  lists = next;
  if (first) {
    recall();
    if (!person(who)) who = lists.people[0].key;
    showTips(browser.get("tips", !lists.asked));
  }
  if (view === null || !(place in person(who).news)) go(who, place);
  else draw();
}

async function listen() {
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const answer = await fetch(`/playground/events?timezone=${encodeURIComponent(timezone)}`, {
    headers: { "X-Playground-Secret": secret }, cache: "no-store",
  });
  if (answer.status === 401) {
    $("views").replaceChildren(element("p", {}, "This address is not complete. Open the one that the terminal printed."));
    return false;
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return true;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) receive(JSON.parse(line));
  }
}

async function listenForEver() {
  for (let lost = false; ; lost = true) {
    try {
      if (!await listen()) return;
    } catch {
      // The twin is away; ask again.
    }
    if (!lost) toast("The playground is not answering. Trying again…");
    view = null;
    if (lists) {
      lists.bot.state = "lost";
      drawBar();
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

listenForEver();

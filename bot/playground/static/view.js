// What is added to simcord's page inside the frame: it stays at the newest, its times go on, messages have a menu.

// ------------------------------------------------------------------------------------------------- the newest

const NEAR = 120;
/** Milliseconds after a wheel, a touch or a key in which a scroll is a person's own. */
const OWN = 1000;

/** Whoever reads the newest keeps reading the newest, until they scroll away; the page itself gives up after one pixel. */
export function stayAtTheEnd(window, timeline) {
  let near = true;
  let touched = -OWN;
  const toTheEnd = () => {
    near = true;
    timeline.scrollTop = timeline.scrollHeight;
  };
  for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    timeline.addEventListener(kind, () => { touched = performance.now(); }, { passive: true });
  }
  timeline.addEventListener("scroll", () => {
    const close = timeline.scrollHeight - timeline.scrollTop - timeline.clientHeight < NEAR;
    if (close) near = true;
    else if (performance.now() - touched < OWN) near = false;
  }, { passive: true });
  const grown = new window.ResizeObserver(() => {
    // Behind the page's own correction, which comes in the next frame and would scroll back.
    if (near) window.requestAnimationFrame(() => window.requestAnimationFrame(() => { if (near) toTheEnd(); }));
  });
  grown.observe(timeline);
  grown.observe(timeline.querySelector("#channel-message-list"));
  return { toTheEnd, leave: () => { near = false; } };
}

/** Calls back for each thing that this person does in the page, by its kind; what the page calls itself, too. */
export function watchActions(window, done) {
  const send = window.fetch;
  let context = null;
  window.fetch = (address, options) => {
    context = options?.headers?.["X-Simcord-Context"] ?? context;
    if (address === "/api/action" && typeof options?.body === "string") done(JSON.parse(options.body).kind);
    return send.call(window, address, options);
  };
  return () => context;
}

// ------------------------------------------------------------------------------------------------------ times

const RELATIVE = /\bago$|^in |^now$|^(?:yesterday|today|tomorrow)$|^(?:last|this|next) (?:second|minute|hour|week)$/;
const SPOKEN = new Intl.RelativeTimeFormat("en-US", { numeric: "auto" });

/** The time as simcord's page writes it. */
function relative(date) {
  const seconds = (date - Date.now()) / 1000;
  const size = Math.abs(seconds);
  const [unit, amount] = size < 60 ? ["second", seconds] : size < 3600 ? ["minute", seconds / 60]
    : size < 86400 ? ["hour", seconds / 3600] : size < 604800 ? ["day", seconds / 86400] : ["week", seconds / 604800];
  return SPOKEN.format(Math.round(amount), unit);
}

/** "2 seconds ago" goes on by itself; the page draws a message anew only when something in it has changed. */
export function keepTime(window) {
  window.setInterval(() => {
    for (const time of window.document.querySelectorAll("time.discord-timestamp")) {
      if (!RELATIVE.test(time.textContent)) continue;
      const now = relative(new Date(time.dateTime));
      if (time.textContent !== now) time.textContent = now;
    }
  }, 1000);
}

// ------------------------------------------------------------------------------------------------------ menus

/** A message's menu of the application's commands, which the page has not: by a button, or a right click. */
export function offerMenus(page, list, { commands, use }) {
  let open = null;
  const close = (focus = false) => {
    if (open && focus) open.button?.focus();
    open?.menu.remove();
    open = null;
  };

  async function show(article, button, x, y) {
    close();
    const names = await commands();
    close();  // one that was asked for meanwhile
    if (!names.length || !article.isConnected) return;
    const menu = page.createElement("div");
    menu.className = "message-menu";
    menu.setAttribute("role", "menu");
    menu.setAttribute("aria-label", "Apps");
    for (const name of names) {
      const item = page.createElement("button");
      item.type = "button";
      item.setAttribute("role", "menuitem");
      item.textContent = name;
      item.addEventListener("click", () => { close(); use(article.dataset.messageId, name); });
      menu.append(item);
    }
    menu.addEventListener("keydown", (event) => {
      const items = [...menu.children];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Tab") close(true);
      else if (step) items[(items.indexOf(page.activeElement) + step + items.length) % items.length].focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    page.body.append(menu);
    const { clientWidth, clientHeight } = page.documentElement;
    menu.style.left = `${Math.max(8, Math.min(x, clientWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = `${Math.max(8, Math.min(y, clientHeight - menu.offsetHeight - 8))}px`;
    open = { menu, button };
    menu.firstElementChild.focus();
  }

  function addButtons() {
    for (const article of list.querySelectorAll("article.channel-message")) {
      if (article.querySelector(".message-menu-button")) continue;
      let toolbar = article.querySelector(".message-context-actions");
      if (!toolbar) {
        toolbar = page.createElement("div");
        toolbar.className = "message-context-actions";
        article.append(toolbar);
      }
      const button = page.createElement("button");
      button.type = "button";
      button.className = "message-action-button message-menu-button";
      button.setAttribute("aria-label", "Apps");
      button.setAttribute("aria-haspopup", "menu");
      button.textContent = "⋯";
      button.addEventListener("click", () => {
        const { left, bottom } = button.getBoundingClientRect();
        show(article, button, left, bottom + 4);
      });
      toolbar.append(button);
    }
  }

  list.addEventListener("contextmenu", (event) => {
    const article = event.target.closest("article.channel-message");
    if (!article || event.target.closest("a, img, video") || page.getSelection()?.toString()) return;
    event.preventDefault();
    show(article, article.querySelector(".message-menu-button"), event.clientX, event.clientY);
  });
  // Wherever the focus is: a list that is drawn anew may have taken it.
  page.addEventListener("keydown", (event) => {
    if (!open || event.key !== "Escape") return;
    close(true);
    event.preventDefault();
    event.stopPropagation();
  }, true);
  page.addEventListener("pointerdown", (event) => { if (open && !open.menu.contains(event.target)) close(); }, true);
  return addButtons;
}

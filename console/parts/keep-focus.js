/**
 * Where a reader stood.
 *
 * @typedef {object} Stand
 * @property {string} mark of the element that had the focus
 * @property {readonly Element[]} around what it stood in, inner ones first
 * @property {Element} element
 */

const focusable = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
/** What has a name of its own to whom a page is read aloud. */
const region = 'section, form, [role=group], [role=tabpanel]'

/** What an element is to its reader: the same in a page that was made anew. @param {Element} element */
const markOf = (element) => {
  const name = element.getAttribute('aria-label') ?? element.getAttribute('name') ?? element.textContent?.trim() ?? ''
  const label = element.closest('label')?.textContent ?? ''
  const row = element.closest('tr, li')?.firstElementChild?.textContent ?? ''
  const form = element.closest('form')?.getAttribute('aria-label') ?? ''
  return [element.localName, element.getAttribute('href') ?? '', name, label, row, form].join('\n')
}

/** @param {Element} element */
const aroundOf = (element) => {
  /** @type {Element[]} */
  const around = []
  for (let each = element.parentElement; each !== null; each = each.parentElement) around.push(each)
  return around
}

/** Focuses what takes no focus by the Tab key, such as a section. @param {Element} element */
const focusOn = (element) => {
  if (!(element instanceof HTMLElement || element instanceof SVGElement)) return
  if (!element.matches(focusable) && !element.hasAttribute('tabindex')) element.setAttribute('tabindex', '-1')
  element.focus({ preventScroll: true })
}

const isNowhere = () => document.activeElement === null || document.activeElement === document.body

/**
 * Keeps the focus in its place where a page is made anew under it: one who works by keyboard, or has the page read aloud, would
 * stand nowhere. It never goes to another button, which a second press of Enter would set off.
 */
export class KeepFocus {
  #root
  /** @type {Stand | null} */
  #stand = null
  /** Labels of the panels that were open. @type {ReadonlySet<string>} */
  #panels = new Set()
  /** What was not there yet when the page came: its lists are read after it. @type {(() => Element | undefined) | null} */
  #wanted = null

  /** @param {HTMLElement} root within which it stays; it gets the focus where nothing else is left */
  constructor(root) {
    this.#root = root
    root.addEventListener('focusin', ({ target }) => {
      const stands = target instanceof Element && target !== root
      this.#stand = stands ? { mark: markOf(target), around: aroundOf(target), element: target } : null
    })
    root.addEventListener('focusout', ({ target }) => {
      // it is the reader who goes, unless the element is being taken away just now
      queueMicrotask(() => {
        if (target instanceof Element && target.isConnected && target === this.#stand?.element) this.#stand = null
      })
    })
    root.addEventListener('keydown', (event) => this.#onKey(event))
    for (const own of ['keydown', 'pointerdown']) addEventListener(own, () => this.#forget(), { capture: true })
    new MutationObserver(() => this.#look()).observe(root, { childList: true, subtree: true })
  }

  /** The page is about to be made anew: what `arrive` needs of this one. */
  leave() {
    const stand = this.#stand
    this.#stand = null
    this.#panels = new Set(this.#openPanels().map(labelOf))
    return stand
  }

  /**
   * The page was made anew. In the same view a panel that was opened gets the focus, else what had it, else the link by which
   * a panel was opened that is closed now; another view begins at its beginning.
   *
   * @param {Stand | null} stand what `leave` said; null in another view
   * @param {string} from the hash that the location had before
   */
  arrive(stand, from) {
    if (!isNowhere()) return
    const opened = stand === null ? undefined : this.#openPanels().find((each) => !this.#panels.has(labelOf(each)))
    if (opened !== undefined) opened.scrollIntoView({ block: 'nearest' })
    const link = () => [...this.#root.querySelectorAll('a')].find((each) => each.getAttribute('href') === from)
    const find = () => (stand === null ? undefined : (this.#like(stand) ?? link()))
    const found = opened ?? find()
    focusOn(found ?? this.#root)
    this.#wanted = found === undefined ? find : null
  }

  /** The reader has gone on. */
  #forget() {
    this.#wanted = null
  }

  /** What stood there was taken away: the same thing anew, or what it stood in. */
  #look() {
    const late = document.activeElement === this.#root ? this.#wanted?.() : undefined
    if (late !== undefined) {
      this.#forget()
      focusOn(late)
    }
    const stand = this.#stand
    if (stand === null || stand.element.isConnected || !isNowhere()) return
    this.#stand = null
    const around = stand.around.find((each) => each.isConnected && each.matches(region) && this.#root.contains(each))
    focusOn(this.#like(stand) ?? around ?? this.#root)
  }

  /** @param {Stand} stand */
  #like({ mark }) {
    return [...this.#root.querySelectorAll(focusable)].find((each) => markOf(each) === mark)
  }

  #openPanels() {
    return [...this.#root.querySelectorAll('.panel')].filter((each) => each.querySelector('.close') !== null)
  }

  /** Escape closes the panel that one stands in. @param {KeyboardEvent} event */
  #onKey({ key, target, defaultPrevented }) {
    if (key !== 'Escape' || defaultPrevented || !(target instanceof Element)) return
    const close = target.closest('.panel')?.querySelector('.close')
    if (close instanceof HTMLElement) close.click()
  }
}

/** @param {Element} panel */
const labelOf = (panel) => panel.getAttribute('aria-label') ?? ''

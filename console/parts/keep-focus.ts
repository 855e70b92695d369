/** The position of the focus. */
interface Stand {
  /** identifies the focused element */
  readonly mark: string
  /** its ancestors, innermost first */
  readonly around: readonly Element[]
  readonly element: Element
}

const focusable = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
/** Elements that screen readers announce by their own name. */
const region = 'section, form, [role=group], [role=tabpanel]'

/** Identifies an element for the user; unchanged when the page is rendered again. */
const markOf = (element: Element) => {
  const name = element.getAttribute('aria-label') ?? element.getAttribute('name') ?? element.textContent?.trim() ?? ''
  const label = element.closest('label')?.textContent ?? ''
  const row = element.closest('tr, li')?.firstElementChild?.textContent ?? ''
  const form = element.closest('form')?.getAttribute('aria-label') ?? ''
  return [element.localName, element.getAttribute('href') ?? '', name, label, row, form].join('\n')
}

const aroundOf = (element: Element) => {
  const around: Element[] = []
  for (let each = element.parentElement; each !== null; each = each.parentElement) around.push(each)
  return around
}

/** Focuses an element, even one that is not focusable by default, such as a section. */
const focusOn = (element: Element) => {
  if (!(element instanceof HTMLElement || element instanceof SVGElement)) return
  if (!element.matches(focusable) && !element.hasAttribute('tabindex')) element.setAttribute('tabindex', '-1')
  element.focus({ preventScroll: true })
}

const isNowhere = () => document.activeElement === null || document.activeElement === document.body

/**
 * Keeps the focus in its place when a page is rendered again: a user of a keyboard or a screen reader would otherwise
 * lose their position. It never moves to a different button, which another press of Enter would activate.
 */
export class KeepFocus {
  #root
  #stand: Stand | null = null
  /** Labels of the panels that were open. */
  #panels: ReadonlySet<string> = new Set()
  /** Finds the element to focus once it appears: lists are read after the page is rendered. */
  #wanted: (() => Element | undefined) | null = null

  /** @param root element within which focus stays; focused itself when nothing else is left */
  constructor(root: HTMLElement) {
    this.#root = root
    root.addEventListener('focusin', ({ target }) => {
      const stands = target instanceof Element && target !== root
      this.#stand = stands ? { mark: markOf(target), around: aroundOf(target), element: target } : null
    })
    root.addEventListener('focusout', ({ target }) => {
      // the user has moved the focus, unless the element is being removed right now
      queueMicrotask(() => {
        if (target instanceof Element && target.isConnected && target === this.#stand?.element) this.#stand = null
      })
    })
    root.addEventListener('keydown', (event) => this.#onKey(event))
    for (const own of ['keydown', 'pointerdown']) addEventListener(own, () => this.#forget(), { capture: true })
    new MutationObserver(() => this.#poll()).observe(root, { childList: true, subtree: true })
  }

  /** Called before the page is rendered again. Returns the state that `arrive` needs. */
  leave() {
    const stand = this.#stand
    this.#stand = null
    this.#panels = new Set(this.#openPanels().map(labelOf))
    return stand
  }

  /**
   * Called after the page was rendered again. In the same view, focuses a panel that was opened, else the element that
   * had the focus, else the link that had opened a panel which is closed now. Another view starts at its beginning.
   *
   * @param stand result of `leave`; null in another view
   * @param from the hash that the location had before
   */
  arrive(stand: Stand | null, from: string) {
    if (!isNowhere()) return
    const panel = () => {
      const opened = this.#openPanels().find((each) => !this.#panels.has(labelOf(each)))
      opened?.scrollIntoView({ block: 'nearest' })
      return opened
    }
    const link = () => [...this.#root.querySelectorAll('a')].find((each) => each.getAttribute('href') === from)
    const find = () => (stand === null ? undefined : (panel() ?? this.#like(stand) ?? link()))
    const found = find()
    focusOn(found ?? this.#root)
    this.#wanted = found === undefined ? find : null
  }

  /** Stops waiting, because the user has continued. */
  #forget() {
    this.#wanted = null
  }

  /** If the focused element was removed, focuses its replacement or its surroundings. */
  #poll() {
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

  #like({ mark }: Stand) {
    return [...this.#root.querySelectorAll(focusable)].find((each) => markOf(each) === mark)
  }

  #openPanels() {
    return [...this.#root.querySelectorAll('.panel')].filter((each) => each.querySelector('.close') !== null)
  }

  /** Escape closes the panel that has the focus. */
  #onKey({ key, target, defaultPrevented }: KeyboardEvent) {
    if (key !== 'Escape' || defaultPrevented || !(target instanceof Element)) return
    const close = target.closest('.panel')?.querySelector('.close')
    if (close instanceof HTMLElement) close.click()
  }
}

const labelOf = (panel: Element) => panel.getAttribute('aria-label') ?? ''

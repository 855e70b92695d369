import type { Page } from 'playwright'

/** Maximum of Tab presses inside one field: dates have a stop for each of their parts. */
const maxPressesPerStop = 10
const maxStops = 600

/** One stop of the Tab key. */
interface Stop {
  /** Number of the element in the order of the first visits; -1 for none, at the end of the page. */
  readonly at: number
  readonly name: string
  /** Its fault, '' for none. */
  readonly fault: string
}

/**
 * Script that runs before those of the page: records elements with click listeners, and describes the focused element.
 */
export const keyboardProbe = `(() => {
  const clickable = new Set()
  const listen = EventTarget.prototype.addEventListener
  EventTarget.prototype.addEventListener = function (type, ...rest) {
    if (type === 'click' && this instanceof Element) clickable.add(new WeakRef(this))
    return listen.call(this, type, ...rest)
  }
  const focusable = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
  const shown = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0
  const nameOf = (element) => {
    const text = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent
    return element.localName + ' ' + text.trim().replaceAll(/\\s+/g, ' ').slice(0, 60)
  }
  const seen = new Map()
  const faultOf = (element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    if (outlineStyle === 'none' || Number.parseFloat(outlineWidth) < 2) return 'has no ring'
    const boxes = [...element.getClientRects()]
    const inside = boxes.filter(({ left, right, top, bottom }) => right > 0 && left < innerWidth && bottom > 0 && top < innerHeight)
    if (inside.length === 0) return 'is out of sight'
    const met = inside.some(({ left, right, top, bottom }) =>
      [0.5, 0.1, 0.9].some((part) => {
        const found = document.elementFromPoint(left + (right - left) * part, (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2)
        return found !== null && (element.contains(found) || found.contains(element))
      }),
    )
    return met ? '' : 'is covered'
  }
  window.keyboardProbe = {
    begin() {
      seen.clear()
      const first = [...document.querySelectorAll(focusable)].find(shown)
      first?.focus({ focusVisible: true })
    },
    stop() {
      const element = document.activeElement
      if (element === null || element === document.body || element === document.documentElement) return { at: -1, name: 'none', fault: '' }
      if (!seen.has(element)) seen.set(element, seen.size)
      return { at: seen.get(element), name: nameOf(element), fault: faultOf(element) }
    },
    /** What can be clicked and was not met. Options of a list are chosen with the arrow keys, and a log is opened with Enter. */
    missed() {
      const scope = document.querySelector('dialog[open]') ?? document
      const wanted = [...scope.querySelectorAll(focusable)].filter((each) => each.getAttribute('tabindex') !== '-1' && !each.disabled)
      const clicked = [...clickable].map((each) => each.deref()).filter((each) => each?.isConnected && scope.contains(each))
      const others = clicked.filter((each) => !each.matches(focusable + ', dialog, [role=option], [role=log], .skip') && !each.disabled)
      return [...wanted, ...others].filter((each) => shown(each) && !seen.has(each)).map(nameOf)
    },
  }
})()`

/** Stops of the Tab key from the top of a page to its end, with faults: elements without a stop or ring, and focus traps. */
export const walked = async (
  page: Page,
): Promise<{ readonly names: readonly string[]; readonly faults: readonly string[] }> => {
  const names: string[] = []
  const faults: string[] = []
  await page.evaluate('keyboardProbe.begin()')
  const first: Stop = await page.evaluate('keyboardProbe.stop()')
  names.push(first.name)
  let newest = first.at
  let presses = 0
  for (let met = 0; met < maxStops; ) {
    await page.keyboard.press('Tab')
    const stop: Stop = await page.evaluate('keyboardProbe.stop()')
    if (stop.at === -1 || stop.at < newest) break
    presses = stop.at === newest ? presses + 1 : 0
    if (presses > maxPressesPerStop) faults.push(`${stop.name} lets no one out`)
    if (presses > maxPressesPerStop) break
    if (stop.at === newest) continue
    met++
    newest = stop.at
    names.push(stop.name)
    if (stop.fault !== '') faults.push(`${stop.name} ${stop.fault}`)
  }
  const missed: readonly string[] = await page.evaluate('keyboardProbe.missed()')
  return { names, faults: [...faults, ...missed.map((name) => `${name} is never reached`)] }
}

/** Presses Tab until the element with this name has the focus. */
export const tabTo = async (page: Page, name: string | RegExp): Promise<void> => {
  const seen: string[] = []
  for (let presses = 0; presses < maxStops; presses++) {
    const stop: Stop = await page.evaluate('keyboardProbe.stop()')
    const fits = typeof name === 'string' ? stop.name.slice(stop.name.indexOf(' ') + 1) === name : name.test(stop.name)
    if (fits) return
    seen.push(stop.name)
    await page.keyboard.press('Tab')
  }
  throw new Error(`no Tab leads to ${name}: ${[...new Set(seen)].join(' | ')}`)
}

import type { ElementHandle, Page } from 'playwright'
import { isSecretName } from '#specs/resources/web/secret-selectors.ts'
import { VisitFailed } from './visit-failed.ts'

/** Attributes by which a field says what it takes. */
export const naming: readonly string[] = [
  'name',
  'id',
  'autocomplete',
  'aria-label',
  'placeholder',
  'data-testid',
  'title',
]

/** Values of `autocomplete` for what only its owner types. */
export const secretPurposes = /(?:^|\s)(?:current-password|new-password|one-time-code|cc-csc|cc-number)(?:\s|$)/i

/**
 * Refuses a field that takes a password, a secret or a token, whatever selector led to it. A label counts as its field.
 * @throws {VisitFailed} `invalid_browser_action`
 */
export const refuseSecretField = async (reached: ElementHandle): Promise<void> => {
  const field = (await fieldOf(reached)) ?? reached
  if (!(await takesSecret(field))) return
  throw new VisitFailed('invalid_browser_action', 'The selector matches a field for a password, a secret or a token.')
}

/** Refuses to type into such a field, however it came to have the focus. @throws {VisitFailed} `invalid_browser_action` */
export const refuseSecretFocus = async (page: Page): Promise<void> => {
  for (const frame of page.frames()) {
    const focused = (await frame.evaluateHandle(focusedElement).catch(() => null))?.asElement() ?? null
    if (focused !== null) await refuseSecretField(focused)
  }
}

/** Attributes are read by the browser itself: a page cannot answer for it. */
const takesSecret = async (field: ElementHandle): Promise<boolean> => {
  if ((await field.getAttribute('type'))?.trim().toLowerCase() === 'password') return true
  if (secretPurposes.test((await field.getAttribute('autocomplete')) ?? '')) return true
  for (const name of naming) if (isSecretName((await field.getAttribute(name)) ?? '')) return true
  return false
}

const fieldOf = async (reached: ElementHandle): Promise<ElementHandle | null> =>
  (await reached.evaluateHandle(labelled)).asElement()

/** What the page's own elements have, as far as it is looked at here. */
interface Labelling {
  readonly control?: unknown
  readonly closest?: (selector: string) => Labelling | null
}

/** Runs in the page: the field that a label, or what stands inside of one, belongs to. */
const labelled = (element: Labelling): unknown => element.closest?.('label')?.control ?? null

/** Runs in the page: the element with the focus, inside of components too. */
const focusedElement = `(() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  return element === document.body ? null : element
})()`

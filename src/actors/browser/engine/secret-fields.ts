import type { ElementHandle, Page } from 'playwright'
import { isSecretName } from '#specs/resources/web/secret-selectors.ts'
import { VisitFailed } from './visit-failed.ts'

/** Attributes that may describe the purpose of a field. */
export const naming: readonly string[] = [
  'name',
  'id',
  'autocomplete',
  'aria-label',
  'placeholder',
  'data-testid',
  'title',
]

/** Values of `autocomplete` for secrets that only the user may type. */
export const secretPurposes = /(?:^|\s)(?:current-password|new-password|one-time-code|cc-csc|cc-number)(?:\s|$)/i

/**
 * Refuses a field for a password, secret or token, whichever selector matched it. A label counts as its field.
 *
 * @throws {VisitFailed} `invalid_browser_action`
 */
export const refuseSecretField = async (reached: ElementHandle): Promise<void> => {
  const field = (await fieldOf(reached)) ?? reached
  if (!(await takesSecret(field))) return
  throw new VisitFailed('invalid_browser_action', 'The selector matches a field for a password, a secret or a token.')
}

/**
 * Refuses to type when such a field has the focus, for whatever reason.
 *
 * @throws {VisitFailed} `invalid_browser_action`
 */
export const refuseSecretFocus = async (page: Page): Promise<void> => {
  for (const frame of page.frames()) {
    const focused = (await frame.evaluateHandle(focusedElement).catch(() => null))?.asElement() ?? null
    if (focused !== null) await refuseSecretField(focused)
  }
}

/** Whether a field is for a secret. The browser itself reads the attributes, so a page cannot fake them. */
const takesSecret = async (field: ElementHandle): Promise<boolean> => {
  if ((await field.getAttribute('type'))?.trim().toLowerCase() === 'password') return true
  if (secretPurposes.test((await field.getAttribute('autocomplete')) ?? '')) return true
  for (const name of naming) if (isSecretName((await field.getAttribute(name)) ?? '')) return true
  return false
}

const fieldOf = async (reached: ElementHandle): Promise<ElementHandle | null> =>
  (await reached.evaluateHandle(labelled)).asElement()

/** The parts of DOM elements that are used here. */
interface Labelling {
  readonly control?: unknown
  readonly closest?: (selector: string) => Labelling | null
}

/** Runs in the page: the field of a label, or of the label that contains the element. */
const labelled = (element: Labelling): unknown => element.closest?.('label')?.control ?? null

/** Runs in the page: the focused element, including in shadow trees. */
const focusedElement = `(() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  return element === document.body ? null : element
})()`

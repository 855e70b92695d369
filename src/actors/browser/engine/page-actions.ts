import type { ElementHandle, Page } from 'playwright'
import type { BrowserAction } from '#machines/browser-job/browser-job.ts'
import { refuseSecretField, refuseSecretFocus } from './secret-fields.ts'
import { VisitFailed } from './visit-failed.ts'

/** Maximum time in ms to wait for an element. */
const actionMs = 10_000

/** An action that the server performs itself. */
export type PageAction = BrowserAction & { readonly type: Exclude<BrowserAction['type'], 'handOver'> }

/** Keys that neither type nor submit anything. */
const quietKeys = /^(?:(?:Shift|Control|Alt|Meta)\+)*(?:Tab|Escape)$/

/** Performs one action on the page. @throws {VisitFailed} `invalid_browser_action`, `fetch_timeout` */
export const act = async (page: Page, action: PageAction): Promise<void> => {
  try {
    await acts[action.type](page, action)
  } catch (error) {
    if (error instanceof VisitFailed) throw error
    throw failureOf(error, action)
  }
}

type Act = (page: Page, action: BrowserAction) => Promise<void>

const acts: Readonly<Record<PageAction['type'], Act>> = {
  click: async (page, { selector }) => {
    const element = await reached(page, selector)
    await element.click({ timeout: actionMs })
    await settled(page)
  },
  type: async (page, { selector, text = '', clear = false }) => {
    const element = await reached(page, selector)
    if (clear) return element.fill(text, { timeout: actionMs })
    await element.focus()
    await refuseSecretFocus(page)
    await page.keyboard.type(text)
  },
  press: async (page, { key = '' }) => {
    if (!quietKeys.test(key)) await refuseSecretFocus(page)
    await page.keyboard.press(key)
    await settled(page)
  },
  select: async (page, { selector, values = [] }) => {
    const element = await reached(page, selector)
    await element.selectOption([...values], { timeout: actionMs })
  },
  waitFor: async (page, { selector, milliseconds }) => {
    if (selector !== undefined) await page.waitForSelector(cssOf(selector), { state: 'visible', timeout: actionMs })
    else await new Promise((resolve) => setTimeout(resolve, milliseconds ?? 0))
  },
}

/** Returns the element of a selector, unless it is a secret field. The handle stays valid when the page changes. */
const reached = async (page: Page, selector = ''): Promise<ElementHandle> => {
  const element = await page.waitForSelector(cssOf(selector), { state: 'visible', timeout: actionMs })
  await refuseSecretField(element)
  return element
}

/** Restricts a selector to CSS: Playwright's other engines reach into frames and frameworks. */
const cssOf = (selector: string): string => `css=${selector}`

/** Waits for a navigation that an action started. */
export const settled = async (page: Page): Promise<void> => {
  await page.waitForLoadState('load', { timeout: actionMs }).catch(() => {})
}

const failureOf = (error: unknown, { type, selector }: BrowserAction): VisitFailed => {
  const message = error instanceof Error ? error.message : ''
  const named = selector === undefined ? type : `${type} ${selector}`
  if (message.includes('Timeout') && message.includes('exceeded'))
    return new VisitFailed('fetch_timeout', `The element for this action did not appear in time: ${named}`, error)
  return new VisitFailed('invalid_browser_action', `The action failed on this page: ${named}`, error)
}

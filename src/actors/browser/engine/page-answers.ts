import type { Page } from 'playwright'
import { isDoneWithin } from './done-within.ts'

/** Whether the page's thread responds within `ms`; one that runs an endless script does not. Never rejects. */
export const isAnswering = (page: Page, ms: number): Promise<boolean> => isDoneWithin(ms, answered(page))

const answered = async (page: Page): Promise<void> => {
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: '1' })
  await session.detach().catch(() => {})
}

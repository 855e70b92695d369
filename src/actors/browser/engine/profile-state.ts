import type { BrowserContext, Page } from 'playwright'
import { maxProfileBytes } from '#specs/resources/web/browse-limits.ts'
import { isDoneWithin } from './done-within.ts'
import type { ProfileState } from './schema.ts'

/** Maximum number of origins whose databases are measured. */
export const maxOrigins = 50
/** Maximum size of all databases on disk, in bytes: larger ones would not fit into a profile, and are not loaded. */
const maxStoredBytes = 8 * maxProfileBytes
const readMs = 10_000

/**
 * Returns the cookies and storage of a visit, with its IndexedDB databases unless they are too large for a profile.
 *
 * @param origins origins that the visit has loaded.
 */
export const profileStateOf = async (
  context: BrowserContext,
  page: Page,
  origins: ReadonlySet<string>,
): Promise<ProfileState> => {
  if (await hasSmallDatabases(context, page, origins)) {
    const whole = context.storageState({ indexedDB: true })
    if (await isDoneWithin(readMs, whole)) {
      const state = await whole
      if (Buffer.byteLength(JSON.stringify(state)) <= maxProfileBytes) return state
    }
  }
  return context.storageState()
}

const hasSmallDatabases = async (
  context: BrowserContext,
  page: Page,
  origins: ReadonlySet<string>,
): Promise<boolean> => {
  if (origins.size === 0 || origins.size > maxOrigins) return false
  const session = await context.newCDPSession(page)
  try {
    let bytes = 0
    for (const origin of origins) {
      const { usageBreakdown } = await session.send('Storage.getUsageAndQuota', { origin })
      bytes += usageBreakdown.find(({ storageType }) => storageType === 'indexeddb')?.usage ?? 0
      if (bytes > maxStoredBytes) return false
    }
    return true
  } catch {
    return false
  } finally {
    await session.detach().catch(() => {})
  }
}

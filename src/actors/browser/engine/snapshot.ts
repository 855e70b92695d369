import type { Page } from 'playwright'

/** An accessibility tree, truncated to a budget. */
export interface AccessibilitySnapshot {
  readonly text: string
  /** Estimated. */
  readonly tokens: number
  /** Whether lines were left out. */
  readonly truncated: boolean
}

/** Average number of characters per token of a tree in YAML. */
const tokenLength = 3.5
const snapshotMs = 10_000

/**
 * Returns the accessibility tree in YAML: complete lines from the top, within `maxTokens`. Null when the page does not
 * provide it in time, which does not fail the job.
 */
export const snapshotOf = async (page: Page, maxTokens: number): Promise<AccessibilitySnapshot | null> => {
  const tree = await page
    .locator('body')
    .ariaSnapshot({ timeout: snapshotMs })
    .catch(() => null)
  return tree === null ? null : withinTokens(tree, maxTokens)
}

/** Truncates a tree to complete lines within a budget. */
const withinTokens = (tree: string, maxTokens: number): AccessibilitySnapshot => {
  const max = Math.floor(maxTokens * tokenLength)
  const lastLine = tree.lastIndexOf('\n', max)
  const text = tree.length <= max ? tree : tree.slice(0, Math.max(0, lastLine))
  return { text, tokens: Math.ceil(text.length / tokenLength), truncated: text.length < tree.length }
}

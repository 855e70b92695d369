import type { Page } from 'playwright'

/** What an accessibility tree says, cut at a budget. */
export interface AccessibilitySnapshot {
  readonly text: string
  /** Estimated. */
  readonly tokens: number
  /** Lines were left out. */
  readonly truncated: boolean
}

/** A token of a tree in YAML is about so many characters. */
const tokenLength = 3.5
const snapshotMs = 10_000

/**
 * The page's accessibility tree in YAML, whole lines from its top, within `maxTokens`; null for a page that gives none in time: what
 * was done on it and what it says is worth no less.
 */
export const snapshotOf = async (page: Page, maxTokens: number): Promise<AccessibilitySnapshot | null> => {
  const tree = await page
    .locator('body')
    .ariaSnapshot({ timeout: snapshotMs })
    .catch(() => null)
  return tree === null ? null : withinTokens(tree, maxTokens)
}

/** Whole lines within a budget. */
export const withinTokens = (tree: string, maxTokens: number): AccessibilitySnapshot => {
  const most = Math.floor(maxTokens * tokenLength)
  const lastLine = tree.lastIndexOf('\n', most)
  const text = tree.length <= most ? tree : tree.slice(0, Math.max(0, lastLine))
  return { text, tokens: Math.ceil(text.length / tokenLength), truncated: text.length < tree.length }
}

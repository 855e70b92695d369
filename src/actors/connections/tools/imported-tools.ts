import { isObject } from '#runtime/schema.ts'
import type { ConnectionToolsData } from '../kinds.ts'

/** What the worker read of a document; null for anything else. */
export const importedTools = (value: unknown): ConnectionToolsData | null => {
  if (!isRead(value)) return null
  const { base_url, tools } = value
  return { base_url, tools }
}

const isRead = (value: unknown): value is ConnectionToolsData =>
  isObject(value) && Array.isArray(value.tools) && (value.base_url === null || typeof value.base_url === 'string')

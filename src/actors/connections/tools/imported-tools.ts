import { isObject } from '#runtime/index.ts'
import type { Json } from '#storage/index.ts'
import type { ConnectionToolsData } from '../kinds.ts'
import type { HttpOperation } from './http-operation.ts'

/** Returns the operations that the worker read from a document; null for any other value. */
export const importedTools = (value: unknown): ConnectionToolsData | null => {
  if (!isRead(value)) return null
  const { base_url, tools } = value
  return { base_url, tools }
}

const isRead = (value: unknown): value is ConnectionToolsData =>
  isObject(value) && Array.isArray(value.tools) && (value.base_url === null || typeof value.base_url === 'string')

/** Returns the operation that was stored when a turn started; null for any other value. */
export const storedOperation = (value: Json | undefined): HttpOperation | null => (isOperation(value) ? value : null)

const isOperation = (value: unknown): value is HttpOperation =>
  isObject(value) && typeof value.path === 'string' && typeof value.method === 'string' && isObject(value.parameters)

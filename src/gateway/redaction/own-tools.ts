import { isOwnTool } from '#gateway/providers/anthropic/anthropic-citations.ts'
import { isObject, type WireObject } from '#outgoing/wire.ts'

type MapText = (text: string) => string

/**
 * Maps the texts of a call or a result of one of Anthropic's own tools; returns the same block when none changed. A caller
 * may have written it; Anthropic checks what it encrypted.
 */
export const mapOwnTool = (block: unknown, map: MapText): unknown => {
  if (!isObject(block) || !isOwnTool(block)) return block
  const input = mapDeep(block.input, map, () => false)
  const content = mapDeep(block.content, map, isUnread)
  return input === block.input && content === block.content ? block : { ...block, input, content }
}

type IsUnread = (name: string, within: WireObject) => boolean

const mapDeep = (value: unknown, map: MapText, skips: IsUnread): unknown => {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => mapDeep(item, map, skips))
    return items.some((item, at) => item !== value[at]) ? items : value
  }
  if (!isObject(value)) return value
  let made = value
  for (const name of Object.keys(value)) {
    const after = skips(name, value) ? value[name] : mapDeep(value[name], map, skips)
    if (after !== value[name]) made = { ...made, [name]: after }
  }
  return made
}

/** Whether a field of a result has no text, or a text that Anthropic requires back unchanged. */
const isUnread: IsUnread = (name, { type }) => unreadFields.test(name) || (name === 'data' && type === 'base64')

const unreadFields = /^(?:type|id|\w+_id|url|encrypted_\w+)$/

import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { Item } from './conversation.ts'

/** The text of a message, whatever the kinds of its parts. */
export const textOfItem = (item: WireObject): string =>
  arrayOf(item.content)
    .map((part) => textOf(objectOf(part).text) || textOf(objectOf(part).transcript))
    .filter((text) => text !== '')
    .join('\n')

/** Converts items to the messages of a chat completion. Calls without an output are left out: models refuse them. */
export const chatMessages = (instructions: string, items: readonly WireObject[]): readonly WireObject[] => {
  const answered = new Set(items.flatMap((item) => (item.type === 'function_call_output' ? [item.call_id] : [])))
  const messages: WireObject[] = instructions === '' ? [] : [{ role: 'system', content: instructions }]
  let calls: WireObject[] = []
  for (const item of items) {
    if (item.type === 'function_call') {
      if (!answered.has(item.call_id)) continue
      if (calls.length === 0) messages.push({ role: 'assistant', content: null, tool_calls: calls })
      calls.push({ id: item.call_id, type: 'function', function: { name: item.name, arguments: item.arguments } })
      continue
    }
    const message = messageOf(item)
    if (message === null) continue
    if (item.type !== 'function_call_output') calls = []
    messages.push(message)
  }
  return messages
}

const messageOf = (item: WireObject): WireObject | null => {
  if (item.type === 'function_call_output') return { role: 'tool', tool_call_id: item.call_id, content: item.output }
  if (item.type !== 'message') return null
  const text = textOfItem(item)
  const images = arrayOf(item.content).flatMap((part) => {
    const { type, image_url: url } = objectOf(part)
    return type === 'input_image' && typeof url === 'string' ? [{ type: 'image_url', image_url: { url } }] : []
  })
  if (images.length > 0)
    return { role: item.role, content: [...(text === '' ? [] : [{ type: 'text', text }]), ...images] }
  return text === '' ? null : { role: item.role, content: text }
}

/** Whether an item is a message of the user. */
export const isOfUser = (item: Item): boolean => item.type === 'message' && item.role === 'user'

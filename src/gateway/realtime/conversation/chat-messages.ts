import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import type { Item } from './conversation.ts'

/** The text of a message, whatever the kinds of its parts. */
export const textOfItem = (item: WireObject): string =>
  arrayOf(item.content)
    .map((part) => textOf(objectOf(part).text) || textOf(objectOf(part).transcript))
    .filter((text) => text !== '')
    .join('\n')

/**
 * Converts items to the messages of a chat completion. Outputs directly follow their calls, between which the user may
 * have spoken; calls without an output, and outputs without a call, are left out. Models refuse anything else.
 */
export const chatMessages = (instructions: string, items: readonly WireObject[]): readonly WireObject[] => {
  const outputs = outputsOf(items)
  const messages: WireObject[] = instructions === '' ? [] : [{ role: 'system', content: instructions }]
  let calls: WireObject[] = []
  const end = (): void => {
    if (calls.length > 0) messages.push({ role: 'assistant', content: null, tool_calls: calls.map(chatCall) })
    for (const call of calls)
      messages.push({ role: 'tool', tool_call_id: call.call_id, content: outputs.get(call)?.output })
    calls = []
  }
  for (const item of items) {
    if (item.type === 'function_call') {
      if (outputs.has(item)) calls.push(item)
      continue
    }
    end()
    const message = messageOf(item)
    if (message !== null) messages.push(message)
  }
  end()
  return messages
}

const chatCall = ({ call_id: id, name, arguments: args }: WireObject): WireObject => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})

/** The output of each call: the first behind it, since some models use the ids of their calls again. */
const outputsOf = (items: readonly WireObject[]): ReadonlyMap<WireObject, WireObject> => {
  const outputs = new Map<WireObject, WireObject>()
  const open = new Map<unknown, WireObject>()
  for (const item of items) {
    if (item.type === 'function_call') open.set(item.call_id, item)
    const call = item.type === 'function_call_output' ? open.get(item.call_id) : undefined
    if (call === undefined) continue
    outputs.set(call, item)
    open.delete(item.call_id)
  }
  return outputs
}

const messageOf = (item: WireObject): WireObject | null => {
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

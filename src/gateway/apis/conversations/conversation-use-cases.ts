import type { Principal } from '#actors/call/call.ts'
import { orNotFound } from '#actors/call/not-found.ts'
import type { UseCasesOf } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import { newIdFor } from '#runtime/internal.ts'
import type { Scope } from '#storage/index.ts'
import { inputItems, type ResponseItem } from '../responses/input-items.ts'
import { itemPage } from '../responses/item-page.ts'
import type { Conversation, Conversations, Reach } from './conversations.ts'

/** Maximum number of items that one call adds. */
const maxAdded = 20

/** Use-cases of OpenAI's Conversations API. */
export const conversationUseCases = (
  conversations: Conversations,
): UseCasesOf<'conversations' | 'conversation_items'> => ({
  'conversations.create': async (call) => {
    const { metadata, items } = call.body
    const made = await conversations.create(callerOf(call), {
      ...{ id: newIdFor(call, 'conv'), metadata: metadata ?? {}, items: added(items) },
    })
    return view(made)
  },
  'conversations.get': async (call) => view(await conversations.find(reachOf(call), call.params.conversation_id)),
  'conversations.update': async (call) => {
    const metadata = call.body.metadata ?? {}
    return view(await conversations.change(reachOf(call), call.params.conversation_id, { metadata }))
  },
  'conversations.delete': async (call) => {
    const { conversation_id: id } = call.params
    await conversations.remove(reachOf(call), id)
    return { id, object: 'conversation.deleted', deleted: true }
  },
  'conversation_items.add': async (call) => {
    const { conversation_id } = call.params
    await conversations.find(reachOf(call), conversation_id)
    const more = added(call.body.items)
    await conversations.change(reachOf(call), conversation_id, { items: (items) => [...items, ...more] })
    return itemPage(more, { limit: maxAdded, order: 'asc' })
  },
  'conversation_items.list': async (call) => {
    const { items } = await conversations.find(reachOf(call), call.params.conversation_id)
    return itemPage(items, call.query)
  },
  'conversation_items.get': async (call) => {
    const { conversation_id, item_id } = call.params
    const { items } = await conversations.find(reachOf(call), conversation_id)
    return itemOf(items, item_id)
  },
  'conversation_items.delete': async (call) => {
    const { conversation_id, item_id } = call.params
    const without = (items: readonly ResponseItem[]) => {
      itemOf(items, item_id)
      return items.filter(({ id }) => id !== item_id)
    }
    return view(await conversations.change(reachOf(call), conversation_id, { items: without }))
  },
})

const added = (items: Parameters<typeof inputItems>[0]): readonly ResponseItem[] => inputItems(items, 'items')

const itemOf = (items: readonly ResponseItem[], id: string): ResponseItem => {
  const found = items.find((each) => each.id === id)
  return orNotFound(found, 'item_id')
}

const reachOf = ({ scope, principal }: { readonly scope: Scope; readonly principal: Principal }): Reach => ({
  scope,
  agentId: principal.kind === 'agent_key' ? principal.agentId : null,
})

const view = ({ id, createdAt, metadata }: Conversation) => ({
  ...{ id, object: 'conversation' as const, created_at: Math.floor(createdAt / 1000), metadata },
})

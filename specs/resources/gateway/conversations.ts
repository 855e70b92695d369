import { anyKeyOrDashboard } from '#specs/access.ts'
import { isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import {
  array,
  boolean,
  constant,
  integer,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  string,
} from '#specs/dsl/schema.ts'

const path = '/v1/conversations'
const one = '/v1/conversations/{conversation_id}'
const oneItem = '/v1/conversations/{conversation_id}/items/{item_id}'

const metadata = optional(nullable(record(string({ maxLength: 512 }), { maxProperties: 16 })))
const items = array(jsonObject(), { maxItems: 20 })

const shared = { access: anyKeyOrDashboard, envelope: 'openai' } as const

/** Options of operations that create something in a project. */
const making = { ...shared, unknownFields: 'ignore', attributed: true, chatBodyBytes: 12 * 1024 * 1024 } as const

const conversation = object(
  { id: string(), object: oneOf('conversation'), created_at: number(), metadata: jsonObject() },
  { title: 'ModelConversation', description: "A conversation in the format of OpenAI's Conversations API." },
)

const item = object(
  { id: string(), type: string() },
  { title: 'ModelConversationItem', description: 'A message, a tool call or its output, or reasoning.', open: true },
)

const itemList = object(
  {
    object: oneOf('list'),
    data: array(item),
    first_id: nullable(string()),
    last_id: nullable(string()),
    has_more: boolean(),
  },
  { title: 'ModelConversationItems' },
)

/**
 * OpenAI's Conversations API: conversations that responses with `conversation` continue
 * (specs/decisions/0082-chat-forms.md).
 */
export const conversations = defineOperations('conversations', {
  create: {
    ...making,
    summary: 'Create a conversation',
    description: 'A conversation is stored until it is deleted. It holds at most 2,000 items and 4 MB in total.',
    method: 'POST',
    path,
    body: object({ items: optional(nullable(items)), metadata }, { title: 'ConversationRequest' }),
    answer: isJsonResponse(conversation),
    errors: ['bad_request'],
  },
  get: {
    ...shared,
    summary: 'Retrieve a conversation',
    description: 'Returns the metadata of the conversation; its items are listed by `conversation_items.list`.',
    method: 'GET',
    path: one,
    answer: isJsonResponse(conversation),
  },
  update: {
    ...shared,
    summary: 'Update the metadata of a conversation',
    description: 'Replaces the metadata. The items of the conversation stay as they are.',
    method: 'POST',
    path: one,
    unknownFields: 'ignore',
    body: object({ metadata }),
    answer: isJsonResponse(conversation),
  },
  delete: {
    ...shared,
    summary: 'Delete a conversation',
    description: 'Responses that were created in the conversation are kept.',
    method: 'DELETE',
    path: one,
    answer: isJsonResponse(object({ id: string(), object: oneOf('conversation.deleted'), deleted: constant(true) })),
  },
})

/** Items of conversations. */
export const conversationItems = defineOperations('conversation_items', {
  add: {
    ...making,
    summary: 'Add items to a conversation',
    description:
      'Appends the items in their order. Refused with `bad_request` if the conversation would exceed 2,000 items or 4 MB.',
    method: 'POST',
    path: `${one}/items`,
    passedOver: ['include', 'include[]'],
    body: object({ items }),
    answer: isJsonResponse(itemList),
    errors: ['bad_request'],
  },
  list: {
    ...shared,
    summary: 'List the items of a conversation',
    description: 'Newest first unless `order` is `asc`. To get the next page, send the id of the last item as `after`.',
    method: 'GET',
    path: `${one}/items`,
    query: {
      limit: optional(integer({ min: 1, max: 100 })),
      order: optional(oneOf('asc', 'desc')),
      after: optional(string({ minLength: 1, maxLength: 256 })),
    },
    passedOver: ['include', 'include[]'],
    answer: isJsonResponse(itemList),
  },
  get: {
    ...shared,
    summary: 'Retrieve an item of a conversation',
    description: 'Returns a single item by its id. An item of another conversation is 404.',
    method: 'GET',
    path: oneItem,
    passedOver: ['include', 'include[]'],
    answer: isJsonResponse(item),
  },
  delete: {
    ...shared,
    summary: 'Delete an item of a conversation',
    description:
      'Removes the item, so that later responses in the conversation do not see it, and returns the conversation.',
    method: 'DELETE',
    path: oneItem,
    answer: isJsonResponse(conversation),
  },
})

declare module '#specs/index.ts' {
  interface Resources {
    readonly conversations: typeof conversations
    readonly conversationItems: typeof conversationItems
  }
}

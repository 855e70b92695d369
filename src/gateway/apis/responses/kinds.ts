import type { AnyKind } from '#records/schema.ts'
import { conversationKind } from '../conversations/conversations.ts'
import { threadKind } from '../messages/threads/thread-store.ts'
import { storedItems, storedResponses } from './stored-responses.ts'

/** List rows of background responses. */
export const backgroundRows: AnyKind = { name: 'background_responses', exported: null }

/** All record kinds of the APIs, for `RecordStore.prepare`. */
export const formKinds: readonly AnyKind[] = [
  storedResponses,
  storedItems,
  backgroundRows,
  conversationKind,
  threadKind,
]

import type { AnyKind } from '#records/schema.ts'
import { conversationKind } from '../conversations/conversations.ts'
import { threadKind } from '../messages/threads/thread-store.ts'
import { storedItems, storedResponses } from './stored-responses.ts'

/** List rows of responses in the background. */
export const backgroundRows: AnyKind = { name: 'background_responses', exported: null }

/** All kinds of this folder, for `RecordStore.prepare`. */
export const formKinds: readonly AnyKind[] = [
  storedResponses,
  storedItems,
  backgroundRows,
  conversationKind,
  threadKind,
]

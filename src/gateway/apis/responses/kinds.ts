import type { AnyKind } from '#records/schema.ts'
import { conversationKind } from '../conversations/conversations.ts'
import { threadKind } from '../messages/threads/thread-store.ts'
import { storedItems, storedResponses } from './stored-responses.ts'

/** All kinds of this folder, for `RecordStore.prepare`. */
export const formKinds: readonly AnyKind[] = [storedResponses, storedItems, conversationKind, threadKind]

import type { RecordKind } from '../../../storage/ports.ts'
import { storedResponses } from './stored-responses.ts'

/** All kinds of this folder, for `RecordStore.prepare`. */
export const formKinds: readonly RecordKind[] = [storedResponses]

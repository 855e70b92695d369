import type { Scope } from '#storage/index.ts'
import { Port } from './port.ts'

/** A stored file of OpenAI's API. */
interface ServedFile {
  readonly purpose: string
  /** Null for a file of the project itself. */
  readonly tenant: string | null
  /** Yields its content in parts. @throws {ServiceError} `not_found` when it was deleted meanwhile */
  readonly content: () => AsyncIterable<Uint8Array>
}

/** A file that the server makes. */
interface MadeFile {
  /** The same in every attempt, so that the file is made once. */
  readonly id: string
  readonly project: string
  readonly tenant: string | null
  readonly filename: string
  readonly purpose: 'batch' | 'batch_output'
  readonly content: AsyncIterable<Uint8Array>
}

/** Files, as batches read and write them. */
export interface FileService {
  /** Returns null when there is no such file in the scope. @throws {StoreUnavailable} */
  find(scope: Scope, id: string): Promise<ServedFile | null>
  /** Keeps a file that expires until a time at least. @throws {StoreUnavailable} */
  keep(scope: Scope, id: string, untilMs: number): Promise<void>
  /** Stores a file. @throws {StoreUnavailable} */
  make(file: MadeFile): Promise<void>
  /** Deletes a file, if there is one. @throws {StoreUnavailable} */
  remove(scope: Scope, id: string): Promise<void>
}

/** Files, as batches read and write them. */
export const fileService = new Port<FileService>('the files')

import {
  MongoAPIError,
  MongoClientClosedError,
  MongoError,
  MongoNotConnectedError,
  MongoServerError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb'
import { StoreUnavailable } from '../ports.ts'

/**
 * Server codes of a primary that is gone or stepping down, of timeouts, and of a full disk: none is the caller's fault.
 */
const passing = new Set([
  6, 7, 50, 64, 89, 91, 100, 112, 133, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436, 14031,
])

/** Server code of a unique index violation. */
export const duplicateKey = 11_000

/** Whether the server's code is one of those. */
export const isPassing = (code: unknown): boolean => passing.has(Number(code))

/** Whether the server refused a write because of a unique index. */
export const isDuplicate = (error: unknown): boolean => error instanceof MongoServerError && error.code === duplicateKey

/** Whether the database could not be reached or did not answer in time, as opposed to a wrong call. */
export const isUnavailable = (error: unknown): boolean => {
  if (!(error instanceof MongoError)) return isOfSocket(error)
  if (error instanceof MongoWriteConcernError) return true
  if (error instanceof MongoServerError) return isPassing(error.code) || error.hasErrorLabel('RetryableError')
  const closed =
    error instanceof MongoNotConnectedError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoClientClosedError
  return closed || !(error instanceof MongoAPIError)
}

/**
 * Whether the error is a socket's, which the driver passes on when the connection breaks while a command is being
 * written.
 */
const isOfSocket = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(E[A-Z]+|ERR_(STREAM|SOCKET)_\w+)$/.test(String(error.code))

/**
 * Maps an error to the one that the port promises: `StoreUnavailable` for a failure of the database, otherwise the
 * error itself.
 */
export const asPortError = (error: unknown): unknown =>
  isUnavailable(error) ? new StoreUnavailable('mongodb does not answer', { cause: error }) : error

/** Returns the operation's result. @throws {StoreUnavailable} for a failure of the database. */
export const guarded = async <T>(operation: Promise<T>): Promise<T> => {
  try {
    return await operation
  } catch (error) {
    throw asPortError(error)
  }
}

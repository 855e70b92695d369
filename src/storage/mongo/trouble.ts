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

/** Server codes of a primary that is gone or going, of time-outs, and of a full disk: nothing that the caller did wrong. */
const passing = new Set([
  6, 7, 50, 64, 89, 91, 100, 112, 133, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436, 14031,
])

/** The code of a broken unique index. */
export const duplicateKey = 11_000

/** Whether the server refused because a unique index holds the value already. */
export const isDuplicate = (error: unknown): boolean => error instanceof MongoServerError && error.code === duplicateKey

/** Whether the database could not be reached or did not answer in time, as opposed to a wrong call. */
export const isTrouble = (error: unknown): boolean => {
  if (!(error instanceof MongoError)) return isOfSocket(error)
  if (error instanceof MongoWriteConcernError) return true
  if (error instanceof MongoServerError) return passing.has(Number(error.code)) || error.hasErrorLabel('RetryableError')
  const closed =
    error instanceof MongoNotConnectedError ||
    error instanceof MongoTopologyClosedError ||
    error instanceof MongoClientClosedError
  return closed || !(error instanceof MongoAPIError)
}

/** The driver hands a socket's own error on when the connection breaks while a command is written to it. */
const isOfSocket = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(E[A-Z]+|ERR_(STREAM|SOCKET)_\w+)$/.test(String(error.code))

/** The error that the port promises: `StoreUnavailable` for trouble of the database, else the error itself. */
export const asPortError = (error: unknown): unknown =>
  isTrouble(error) ? new StoreUnavailable('mongodb does not answer', { cause: error }) : error

/** The operation's result. @throws {StoreUnavailable} for trouble of the database. */
export const guarded = async <T>(operation: Promise<T>): Promise<T> => {
  try {
    return await operation
  } catch (error) {
    throw asPortError(error)
  }
}

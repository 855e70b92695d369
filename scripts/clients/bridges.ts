import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ClientCheck, run } from './client-check.ts'
import { installPackages } from './generators.ts'
import { packPackages } from './own-client.ts'

const root = resolve(import.meta.dirname, '../..')

/** Pinned: raise a version here to try a new one. */
const installed = [
  ...['ai@7.0.173', '@ai-sdk/react@4.0.177', '@ag-ui/client@1.0.0', '@assistant-ui/react@0.15.22'],
  ...['react@19.3.1', 'react-dom@19.3.1', 'linkedom@0.18.12', '@types/react@19.3.3', '@types/react-dom@19.3.0'],
]

/**
 * Compiles programs with the clients of other products over our packages, as a stranger gets them, and runs turns with them.
 * One is the page of docs/frontends.md.
 */
export const bridges: ClientCheck = (world) => {
  installPackages(world, [...packPackages(world, ['client', 'react']), ...installed])
  cpSync(join(import.meta.dirname, 'bridges'), world.folder, { recursive: true })
  const [, page = ''] = /^```tsx\n([\s\S]*?)^```$/m.exec(readFileSync(join(root, 'docs/frontends.md'), 'utf8')) ?? []
  writeFileSync(join(world.folder, 'page.tsx'), page)
  run(world, process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'])
  run(world, process.execPath, ['out/chats.js'])
  run(world, process.execPath, ['out/assistant.js'])
}

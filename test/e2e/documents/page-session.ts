import { spawn } from 'node:child_process'

/** Output of one block of a page. */
export interface BlockOutput {
  readonly code: string
  readonly printed: string
  /** What all blocks wrote to the standard error. */
  readonly complaints: string
}

/** Separates the outputs of blocks; no command prints it. */
const separator = '\u001e'

/**
 * Runs blocks of shell commands one after another in one bash, as if pasted, and stops at the first command that fails.
 *
 * @throws {Error} with the block that failed and its output.
 */
export const runBlocks = async (
  blocks: readonly string[],
  options: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): Promise<readonly BlockOutput[]> => {
  const script = blocks.map((code) => `${code}\nprintf '\\036'\n`).join('')
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: options.folder,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  let complaints = ''
  child.stdout.on('data', (part) => {
    printed += part
  })
  child.stderr.on('data', (part) => {
    complaints += part
  })
  const status = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject))
  const outputs = printed.split(separator)
  if (status !== 0) throw new Error(`failed:\n${blocks[outputs.length - 1]}\n${outputs.at(-1)}\n${complaints}`)
  return blocks.map((code, place) => ({ code, printed: outputs[place] ?? '', complaints }))
}

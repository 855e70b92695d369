import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readCommandLine } from '#src/start/command-line.ts'
import { runsBrowserJob } from './image/browser-job.ts'
import { ImageRoot } from './image/chroot.ts'

/*
 * `npm run image`: builds the image from the lines of the Dockerfile in a folder, without Docker, and runs in it what its
 * users run: the quickstart, the operator's tools, and a browser job on a page with Japanese and emoji. It takes some
 * minutes, needs root and Debian, and leaves nothing behind.
 */
const usage = [
  'usage: npm run image [-- --screenshot FILE]',
  '',
  'Builds the image in a chroot from the lines of the Dockerfile, and runs the quickstart, the tools and a browser job in it.',
  '--screenshot writes the screenshot of the browser job to a file (WebP).',
].join('\n')
const { screenshot } = readCommandLine({ usage, options: { screenshot: { type: 'string' } } })

process.chdir(resolve(import.meta.dirname, '..'))
const folder = mkdtempSync(join(tmpdir(), 'troupe-image-'))
const image = new ImageRoot(folder)
const report = (does: string, startedMs: number): void =>
  console.log(`ok     ${does} (${Math.round((performance.now() - startedMs) / 1000)} s)`)

/** Runs a command of `troupe` inside. @throws with its output when it fails */
const troupe = (args: readonly string[]): void => {
  const startedMs = performance.now()
  const env = { DATA_DIR: args[0] === 'quickstart' ? '/tmp/data' : '/tmp/data/quickstart', PORT: '0' }
  const { status, stdout, stderr } = image.run(['troupe', ...args], env)
  if (status !== 0) throw new Error(`troupe ${args.join(' ')} ended with ${status}\n${stdout}\n${stderr}`)
  report(`troupe ${args.join(' ')}`, startedMs)
}

try {
  const startedMs = performance.now()
  image.build(readFileSync('Dockerfile', 'utf8'))
  report('every line of the Dockerfile', startedMs)
  troupe(['quickstart', '--exit'])
  const jobMs = performance.now()
  const picture = await runsBrowserJob(image)
  if (screenshot !== undefined) writeFileSync(screenshot, picture)
  report('a browser job that draws Japanese and emoji, and a list of stuck work', jobMs)
  troupe(['doctor'])
  troupe(['rebuild-rows', '--check'])
} finally {
  image.close()
  rmSync(folder, { recursive: true, force: true })
}

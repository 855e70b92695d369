import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '#scripts/services/command.ts'
import { unpackDebianPackages } from '#scripts/services/debian.ts'

/** One picture of an animation, and how long it is shown. */
export interface Shot {
  readonly png: Buffer
  readonly ms: number
}

/** The tool, and the libraries that it needs and a system with a Chromium may not have. */
const packages = ['webp', 'libwebpdemux2', 'libwebpmux3']
const options = ['-loop', '0', '-min_size']
const quality = ['-lossy', '-q', '80', '-m', '6']

/** Returns an animated WebP that repeats without end, made by `img2webp` of Debian. */
export const animatedWebp = (shots: readonly Shot[]): Buffer => {
  const debian = unpackDebianPackages('webp', packages)
  const folder = mkdtempSync(join(tmpdir(), 'troupe-webp-'))
  try {
    const out = join(folder, 'out.webp')
    const files = shots.flatMap(({ png, ms }, index) => {
      const file = join(folder, `${index}.png`)
      writeFileSync(file, png)
      return ['-d', String(Math.round(ms)), ...(index === 0 ? quality : []), file]
    })
    const library = join(debian, 'usr/lib/x86_64-linux-gnu')
    const env = { ...process.env, LD_LIBRARY_PATH: library }
    runCommand(join(debian, 'usr/bin/img2webp'), [...options, ...files, '-o', out], env)
    return readFileSync(out)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The licences of the packages in these folders, whose code a bundle contains, as one text. */
export const noticesOf = (packages: readonly string[]): string => packages.map(noticeOf).join(`\n${'-'.repeat(80)}\n\n`)

const noticeOf = (folder: string): string => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return `${[`${name} ${version} (${license})`, ...texts].join('\n\n')}\n`
}

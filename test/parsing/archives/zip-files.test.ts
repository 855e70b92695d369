import { expect, it } from 'vitest'
import { type ZippedFile, zipFiles } from '#src/parsing/archives/zip-files.ts'
import { zipFile } from '#test/support/files/zip-file.ts'

const filesIn = async (bytes: Uint8Array, read = async (file: ZippedFile) => String(await file.read())) => {
  const found: Record<string, string> = {}
  for await (const file of zipFiles(bytes)) found[file.path] = `${file.size} ${await read(file)}`
  return found
}

const archive = () => zipFile({ 'a/': '', 'a/one.txt': 'one', 'two.txt': 'two and three' })

it('zipFiles returns the files of a zip archive with their sizes, without folders', async () => {
  expect(await filesIn(archive())).toEqual({ 'a/one.txt': '3 one', 'two.txt': '13 two and three' })
})

it('zipFiles lists files without reading them', async () => {
  expect(await filesIn(archive(), async () => '')).toEqual({ 'a/one.txt': '3 ', 'two.txt': '13 ' })
})

it.each([
  ['an archive that is cut off', archive().subarray(0, -30)],
  ['no archive', Buffer.from('two and three')],
])('zipFiles fails for %s', async (_, bytes) => {
  await expect(filesIn(bytes)).rejects.toThrow()
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { EmbedderUnavailable } from '#retrieval/embedder.ts'
import { PackagedEmbedder } from '#retrieval/embedding/packaged-embedder.ts'
import { modelFolder } from './model-folder.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const packaged = (spoil: (folder: string) => void = () => {}, without = '') => {
  const { folder, hashes, remove } = modelFolder({ without })
  closers.push(remove)
  spoil(folder)
  const reasons: string[] = []
  const embedder = new PackagedEmbedder({
    place: { folder, threads: 1, hashes },
    off: (reason) => reasons.push(reason),
  })
  closers.push(() => embedder.close())
  return { embedder, reasons, folder }
}

describe('the packaged embedder', () => {
  it('opens its model for the first text', async () => {
    const { embedder, reasons } = packaged()
    expect(embedder.dimensions).toBe(0)
    const [tea] = await embedder.embed(['tea'], 'passage')
    expect(tea?.length).toBe(2)
    expect({ id: embedder.id, dimensions: embedder.dimensions, isOff: embedder.isOff, reasons }).toEqual({
      ...{ id: 'local/tiny-model', dimensions: 2, isOff: false, reasons: [] },
    })
  })

  it('is off from the start when a file of its model is missing', async () => {
    const { embedder, reasons, folder } = packaged(undefined, 'model.onnx')
    expect(embedder.isOff).toBe(true)
    expect(reasons).toEqual([`there is no ${join(folder, 'model.onnx')}`])
    await expect(embedder.embed(['tea'], 'passage')).rejects.toThrow(EmbedderUnavailable)
  })

  it.each(['model.onnx', 'tokenizer.json'])('is off after the first text when %s was changed', async (name) => {
    const { embedder, reasons, folder } = packaged((path) => writeFileSync(join(path, name), '{}'))
    expect(embedder.isOff).toBe(false)
    await expect(embedder.embed(['tea'], 'passage')).rejects.toThrow(EmbedderUnavailable)
    await expect(embedder.embed(['coffee'], 'query')).rejects.toThrow(EmbedderUnavailable)
    expect(embedder.isOff).toBe(true)
    expect(reasons).toEqual([expect.stringContaining(`${join(folder, name)} was changed: its SHA-256 is not`)])
  })

  it('opens its model again after its process has ended', async () => {
    const { embedder, reasons } = packaged()
    await expect(embedder.embed(['crash'], 'passage')).rejects.toThrow(EmbedderUnavailable)
    expect((await embedder.embed(['tea'], 'passage'))[0]?.length).toBe(2)
    expect({ isOff: embedder.isOff, reasons }).toEqual({ isOff: false, reasons: [] })
  })

  it('can be closed before it was opened', async () => {
    const { embedder } = packaged()
    await embedder.close()
    await expect(embedder.embed(['tea'], 'query')).rejects.toThrow('closed')
  })
})

import { describe, expect, it } from 'vitest'
import { withOutput } from '#retrieval/embedding/onnx-output.ts'

describe('an ONNX model with another output', () => {
  it('is followed by a graph whose only field is the output, a tensor of floating point numbers', () => {
    const model = Buffer.from('model')
    const added = Buffer.from(withOutput(model, 'l8.oln')).subarray(model.length)
    const tensor = [0x0a, 2, 0x08, 1]
    const info = [0x0a, 6, ...Buffer.from('l8.oln'), 0x12, tensor.length, ...tensor]
    expect([...added]).toEqual([0x3a, info.length + 2, 0x62, info.length, ...info])
  })

  it('cannot have a name that is too long for its description', () => {
    expect(() => withOutput(Buffer.from('model'), 'x'.repeat(130))).toThrow('too long')
  })
})

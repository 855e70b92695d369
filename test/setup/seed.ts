/** Reads TEST_SEED. By anything but a whole number, a run would draw no case at all and pass. */
export const seedOf = (text = '0'): number => {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`TEST_SEED must be a whole number of up to 15 digits, and is '${text}'`)
  return Number(text)
}

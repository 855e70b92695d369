/** Whether a text names a disk by a letter that a reader replaces: `sdX`. */
export const isPlaceholderDisk = (text: string): boolean =>
  /\/dev\/(?:sdX|diskN|rdiskN|diskX|rdiskX|nvmeXn1|_\w{1,40}_)/u.test(text)

/** Whether a command copies an image to a disk that is not the first one, as people do to make one to start from. */
export const copiesImage = (text: string): boolean =>
  /\bif=["']?[^\s"']{1,200}\.(?:img|iso|raw|wic)\b/iu.test(text) &&
  (isPlaceholderDisk(text) || /\bof=\/dev\/(?:sd[b-z]|r?disk[2-9]|mmcblk\d)\b/u.test(text))

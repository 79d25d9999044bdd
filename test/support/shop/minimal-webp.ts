/**
 * Returns the header of a WebP image with this width and height. The header consists of ASCII characters, so that it can be sent as text.
 * The server checks only the header.
 */
export const createWebpHeader = (width: number, height: number): string => {
  const threeBytes = (value: number): string => String.fromCharCode(value & 0x7f, value >> 8, 0);
  return `RIFF\u001a\0\0\0WEBPVP8X\n\0\0\0\0\0\0\0${threeBytes(width - 1)}${threeBytes(height - 1)}`;
};

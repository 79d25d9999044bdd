type CopiedPackage = {
  /** Folder in the package to copy. */
  readonly from: string;
  /** Target folder in the workspace's `dist`. */
  readonly to: string;
  /** Matches paths of files that are not copied. */
  readonly except: RegExp;
};

/**
 * Packages whose files are copied into the published package, by workspace and package name. These packages are not dependencies of the
 * published package, because their own dependencies are large and unused.
 */
export const copiedPackages: Readonly<Record<string, Readonly<Record<string, CopiedPackage>>>> = {
  server: {
    // The API reference page loads `standalone.esm.js` and its chunks. `standalone.js` contains the same code in one file.
    '@scalar/api-reference': { from: 'dist/browser', to: 'docs/scalar', except: /\.(?:map|d\.ts)$|\/standalone\.js$/ },
  },
};

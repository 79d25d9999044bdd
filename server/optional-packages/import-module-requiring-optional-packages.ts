import packageJson from '../package.json' with { type: 'json' };

/** Thrown if a feature is configured but an optional package that it requires is not installed. */
export class MissingPackageError extends Error {
  override readonly name = 'MissingPackageError';
}

const versions: Readonly<Record<string, string>> = packageJson.peerDependencies;

/**
 * Imports modules that require optional packages. npm does not install these packages with the server, because few installations need them.
 * @param setting environment variable that enables the feature
 * @param packages name of the optional package, or the common prefix of several package names
 * @throws {MissingPackageError} with the command that installs the missing packages
 */
export async function importModuleRequiringOptionalPackages<Module>(
  setting: string,
  packages: string,
  importModule: () => Promise<Module>,
): Promise<Module> {
  try {
    return await importModule();
  } catch (cause) {
    const missing = Object.keys(versions).filter((name) => name.startsWith(packages) && !isInstalled(name));
    if (missing.length === 0) throw cause;
    const command = `npm install ${missing.map((name) => `${name}@${versions[name]}`).join(' ')}`;
    throw new MissingPackageError(`${setting} requires packages that are not installed. Install them next to the server: ${command}`, {
      cause,
    });
  }
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

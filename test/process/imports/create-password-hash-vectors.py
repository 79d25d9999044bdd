"""Prints password hashes from other implementations as JSON: the test vectors in password-hash-vectors.json.

    python3 -m venv /tmp/hashes
    /tmp/hashes/bin/pip install passlib==1.7.4 bcrypt==4.0.1 argon2-cffi==25.1.0 Django==5.2.19 cryptography==50.0.2
    /tmp/hashes/bin/python create-password-hash-vectors.py > password-hash-vectors.json
"""

import base64
import hashlib
import hmac
import json
import struct

import argon2
import bcrypt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from django.conf import settings
from passlib import hash as passlib_hash

settings.configure(PASSWORD_HASHERS=[f"django.contrib.auth.hashers.{name}PasswordHasher" for name in (
    "PBKDF2", "PBKDF2SHA1", "Argon2", "BCrypt", "BCryptSHA256", "Scrypt")])
from django.contrib.auth import hashers  # noqa: E402

PASSWORD = "correct horse Bätterie staple"
SALT = b"0123456789abcdef"


def django(name, **parameters):
    return hashers.get_hasher(name).encode(PASSWORD, "saltsaltsaltsaltsaltsa", **parameters)


def base64_text(data):
    return base64.b64encode(data).decode()


def firebase():
    separator, signer_key = b"\x07", bytes(range(64))
    key = hashlib.scrypt(PASSWORD.encode(), salt=SALT + separator, n=2**14, r=8, p=1, maxmem=2**26, dklen=64)[:32]
    encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    digest = encryptor.update(signer_key)
    return f"$firescrypt$ln=14,r=8,p=1${base64_text(SALT)}${base64_text(digest)}${base64_text(separator)}${base64_text(signer_key)}"


def scrypt_kdf():
    salt = SALT * 2
    header = b"scrypt\0" + bytes([15]) + struct.pack(">II", 8, 1) + salt
    header += hashlib.sha256(header).digest()[:16]
    key = hashlib.scrypt(PASSWORD.encode(), salt=salt, n=2**15, r=8, p=1, maxmem=2**26, dklen=64)
    return base64_text(header + hmac.new(key[32:], header, "sha256").digest())


def wordpress():
    reduced = base64.b64encode(hmac.new(b"wp-sha384", PASSWORD.encode(), "sha384").digest())
    return "$wp" + bcrypt.hashpw(reduced, bcrypt.gensalt(10)).decode().replace("$2b$", "$2y$")


def magento_argon2id(message, salt):
    raw = argon2.low_level.hash_secret_raw(message, salt[:16], time_cost=2, memory_cost=65536, parallelism=1, hash_len=32, type=argon2.Type.ID)
    return raw.hex()


def magento():
    salt = "8qnyO4H1OYIfGCUb"
    sha = hashlib.sha256((salt + PASSWORD).encode()).hexdigest()
    long_salt = salt * 2
    return {
        "Magento SHA-256": f"{sha}:{salt}:1",
        "Magento argon2id": f"{magento_argon2id(PASSWORD.encode(), salt.encode())}:{salt}:2",
        "Magento argon2id with parameters": f"{magento_argon2id(PASSWORD.encode(), long_salt.encode())}:{long_salt}:3_32_2_67108864",
        "Magento SHA-256 upgraded to argon2id": f"{magento_argon2id(sha.encode(), salt.encode())}:{salt}:1:2",
    }


vectors = {
    "argon2id": argon2.PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1).hash(PASSWORD),
    "argon2id with little memory": argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD),
    "bcrypt 2b": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(10)).decode(),
    "bcrypt 2a": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(10, b"2a")).decode(),
    "bcrypt 2y": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(10)).decode().replace("$2b$", "$2y$"),
    "bcrypt with a low cost": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode(),
    "scrypt": passlib_hash.scrypt.using(rounds=14, salt=SALT).hash(PASSWORD),
    "scrypt with a low cost": passlib_hash.scrypt.using(rounds=8, salt=SALT).hash(PASSWORD),
    "PBKDF2-SHA256": passlib_hash.pbkdf2_sha256.using(rounds=250_000, salt=SALT).hash(PASSWORD),
    "PBKDF2-SHA512": passlib_hash.pbkdf2_sha512.using(rounds=120_000, salt=SALT).hash(PASSWORD),
    "PBKDF2-SHA256 with few iterations": passlib_hash.pbkdf2_sha256.using(rounds=1000, salt=SALT).hash(PASSWORD),
    "PBKDF2-SHA1": passlib_hash.pbkdf2_sha1.using(rounds=1000, salt=SALT).hash(PASSWORD),
    "salted SHA-1 of LDAP": passlib_hash.ldap_salted_sha1.using(salt=SALT).hash(PASSWORD),
    "salted SHA-256 of LDAP": passlib_hash.ldap_salted_sha256.using(salt=SALT).hash(PASSWORD),
    "SHA-1 of Django": passlib_hash.django_salted_sha1.using(salt="saltsaltsalt").hash(PASSWORD),
    "SHA-256 in the format of Django": f"sha256$salt${hashlib.sha256(('salt' + PASSWORD).encode()).hexdigest()}",
    "phpass": passlib_hash.phpass.using(rounds=13, salt="abcdefgh").hash(PASSWORD),
    "phpass of phpBB": passlib_hash.phpass.using(rounds=8, salt="abcdefgh", ident="H").hash(PASSWORD),
    "Django PBKDF2-SHA256": django("pbkdf2_sha256"),
    "Django PBKDF2-SHA1": django("pbkdf2_sha1", iterations=1000),
    "Django argon2id": hashers.get_hasher("argon2").encode(PASSWORD, "saltsaltsaltsaltsaltsa"),
    "Django bcrypt": hashers.get_hasher("bcrypt").encode(PASSWORD, bcrypt.gensalt(10)),
    "Django bcrypt of SHA-256": hashers.get_hasher("bcrypt_sha256").encode(PASSWORD, bcrypt.gensalt(10)),
    "Django scrypt": django("scrypt"),
    "WordPress 6.8": wordpress(),
    "Firebase scrypt": firebase(),
    "Medusa (scrypt-kdf)": scrypt_kdf(),
    **magento(),
}
print(json.dumps({"password": PASSWORD, "hashes": vectors}, indent=2, ensure_ascii=False))

"""Recordings of a speaker as the input of the MLPerf Tiny keyword model.

    samples = spoken_words.load("/usr/share/sounds/alsa/Front_Left.wav")
    features = spoken_words.features(samples)          # f32[1, 49, 10, 1]
    spoken_words.LABELS[output.argmax()]               # "left"
"""
import wave

import numpy as np

LABELS = ["down", "go", "left", "no", "off", "on", "right", "stop", "up", "yes", "silence",
          "unknown"]
RATE = 16000          # samples a second
WINDOW, STEP, FRAMES = 480, 320, 49
BANDS, COEFFICIENTS = 40, 10
LOWEST, HIGHEST = 20.0, 4000.0  # Hz, of the bands
BINS = 257


def load(path):
    """The first channel of a recording, resampled to 16 kHz, as numbers from -1 to 1."""
    with wave.open(str(path)) as file:
        data = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768.0
        data = data.reshape(-1, file.getnchannels())[:, 0]
        count = len(data) * RATE // file.getframerate()
    spectrum = np.fft.rfft(data)[:count // 2 + 1]
    return np.fft.irfft(spectrum, count) * count / len(data)


def last_word(samples):
    """One second that begins half way: these recordings say a place, then a side."""
    part = samples[len(samples) // 2:][:RATE]
    return np.pad(part, (0, RATE - len(part)))


def mel(frequency):
    return 1127.0 * np.log(1.0 + np.asarray(frequency) / 700.0)


def band_weights():
    """[bins, bands]: triangles at equal distances on the mel scale."""
    bins = mel(np.linspace(0, RATE / 2, BINS))[:, None]
    edges = np.linspace(mel(LOWEST), mel(HIGHEST), BANDS + 2)
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    rising, falling = (bins - low) / (middle - low), (high - bins) / (high - middle)
    return np.maximum(0.0, np.minimum(rising, falling))


def features(samples):
    """Mel-frequency cepstral coefficients, [1, frames, coefficients, 1]."""
    samples = samples / np.abs(samples).max()
    frames = np.stack([samples[i * STEP:i * STEP + WINDOW] for i in range(FRAMES)])
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    spectrum = np.abs(np.fft.rfft(frames * window, 2 * (BINS - 1)))
    energy = np.log(spectrum @ band_weights() + 1e-6)
    order = np.arange(BANDS)
    cosines = 2 * np.cos(np.pi * np.outer(order, 2 * order + 1) / (2 * BANDS))
    result = (energy @ cosines.T / np.sqrt(2 * BANDS))[:, :COEFFICIENTS]
    return result.astype(np.float32).reshape(1, FRAMES, COEFFICIENTS, 1)
